// SPDX-License-Identifier: Apache-2.0
//! Drawings of graphs whose nodes have a natural order. Chains without branches are collapsed to blocks; graphs of blocks
//! are drawn in layers (Sugiyama's method, by the library `dagre`). What is too large for that, where the method becomes
//! slow and its pictures become too wide, is drawn with one row a block and edges as arcs at the side (Wattenberg, *Arc
//! Diagrams*, 2002), in linear time.

use std::fmt::Write;
use std::panic::{self, AssertUnwindSafe};

use dagre::graph::GraphOptions;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, Ranker};

/// Graphs with more blocks are not drawn in layers.
const MAX_BLOCKS: usize = 250;
/// Nor those whose edges together pass more layers.
const MAX_SPAN: usize = 1200;
/// A block shows at most so many lines.
const MAX_LINES: usize = 6;
/// And so many characters of each.
const MAX_LINE: usize = 48;
/// Height of a row, and of a line of a block.
const ROW: usize = 18;
/// The greatest width of the arcs.
const ARCS: usize = 260;

/// A graph to be drawn, its nodes in the order from top to bottom.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    /// The text of each node, and whether it is to be seen at once.
    pub nodes: Vec<(String, bool)>,
    /// The edges by positions of nodes; dashed ones say something else than control flow.
    pub edges: Vec<(usize, usize, bool)>,
    /// How many nodes are left out because there are too many.
    pub omitted: usize,
}

/// A drawing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Drawing {
    /// The picture.
    pub svg: String,
    /// How many blocks it shows.
    pub blocks: usize,
    /// Whether it is in layers.
    pub layered: bool,
}

/// Nodes of which each has only the next one as successor.
struct Block {
    lines: Vec<String>,
    marked: bool,
}

/// The graph as SVG.
pub fn draw(graph: &Graph) -> Drawing {
    let (blocks, edges) = collapse(graph);
    let layered = if blocks.len() <= MAX_BLOCKS && span(blocks.len(), &edges) <= MAX_SPAN {
        // A picture is not worth the loss of a verdict, should the library fail.
        panic::catch_unwind(AssertUnwindSafe(|| layers(&blocks, &edges))).ok()
    } else {
        None
    };
    let is_layered = layered.is_some();
    Drawing { svg: layered.unwrap_or_else(|| rows(&blocks, &edges)), blocks: blocks.len(), layered: is_layered }
}

/// Puts chains together. A block never reaches behind a node that is to be seen.
fn collapse(graph: &Graph) -> (Vec<Block>, Vec<(usize, usize, bool)>) {
    let count = graph.nodes.len();
    let (mut entering, mut leaving) = (vec![0; count], vec![0; count]);
    let mut next = vec![None; count];
    for &(from, to, dashed) in &graph.edges {
        leaving[from] += 1;
        entering[to] += 1;
        next[from] = (!dashed).then_some(to);
    }
    let mut previous = vec![None; count];
    for at in 0..count {
        if let Some(to) = next[at]
            && at < to
            && leaving[at] == 1
            && entering[to] == 1
            && !graph.nodes[to].1
        {
            previous[to] = Some(at);
        }
    }
    let mut blocks: Vec<Block> = Vec::new();
    let mut block_of = vec![0; count];
    for (at, (text, marked)) in graph.nodes.iter().enumerate() {
        match previous[at] {
            Some(before) => {
                block_of[at] = block_of[before];
                blocks[block_of[before]].lines.push(text.clone());
            }
            None => {
                block_of[at] = blocks.len();
                blocks.push(Block { lines: vec![text.clone()], marked: *marked });
            }
        }
    }
    let mut edges: Vec<(usize, usize, bool)> = graph
        .edges
        .iter()
        .filter(|&&(from, to, _)| previous[to] != Some(from))
        .map(|&(from, to, dashed)| (block_of[from], block_of[to], dashed))
        .collect();
    edges.sort_unstable();
    edges.dedup();
    (blocks, edges)
}

/// How many layers the edges pass together, about.
fn span(count: usize, edges: &[(usize, usize, bool)]) -> usize {
    let mut layer = vec![0usize; count];
    for &(from, to, _) in edges.iter().filter(|(from, to, _)| from < to) {
        layer[to] = layer[to].max(layer[from] + 1);
    }
    edges.iter().map(|&(from, to, _)| layer[from].abs_diff(layer[to])).sum()
}

/// The lines of a block that are shown.
fn shown(block: &Block) -> Vec<String> {
    let cut = |line: &String| match line.char_indices().nth(MAX_LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.clone(),
    };
    let mut lines: Vec<String> = block.lines.iter().take(MAX_LINES).map(cut).collect();
    if block.lines.len() > MAX_LINES {
        lines.push(format!("… {} more", block.lines.len() - MAX_LINES));
    }
    lines
}

/// In layers.
fn layers(blocks: &[Block], edges: &[(usize, usize, bool)]) -> String {
    let options = GraphOptions { directed: true, multigraph: true, compound: false };
    let mut graph = dagre::graph::Graph::with_options(options);
    let texts: Vec<Vec<String>> = blocks.iter().map(shown).collect();
    for (at, lines) in texts.iter().enumerate() {
        let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let (width, height) = ((longest * 15 / 2 + 16) as f64, (lines.len() * ROW + 8) as f64);
        graph.set_node(at.to_string(), Some(NodeLabel { width, height, ..NodeLabel::default() }));
    }
    let name = |dashed: bool| if dashed { "cover" } else { "flow" };
    for &(from, to, dashed) in edges {
        let (from, to) = (from.to_string(), to.to_string());
        graph.set_edge(&from, &to, Some(EdgeLabel::default()), Some(name(dashed)));
    }
    let ranker = Ranker::LongestPath;
    let options = LayoutOptions { ranker, nodesep: 24.0, edgesep: 10.0, ranksep: 34.0, ..LayoutOptions::default() };
    dagre::layout(&mut graph, Some(options));
    let (mut body, mut right, mut bottom) = (String::new(), 0.0f64, 0.0f64);
    for &(from, to, dashed) in edges {
        let Some(edge) = graph.edge(&from.to_string(), &to.to_string(), Some(name(dashed))) else { continue };
        let mut path = String::new();
        for (at, point) in edge.points.iter().enumerate() {
            let _ = write!(path, "{}{:.0} {:.0}", if at == 0 { "M" } else { "L" }, point.x, point.y);
            (right, bottom) = (right.max(point.x), bottom.max(point.y));
        }
        let _ = write!(body, "<path class=\"{}\" d=\"{path}\"/>", class(from, to, dashed));
    }
    for (at, (block, lines)) in blocks.iter().zip(&texts).enumerate() {
        let Some(label) = graph.node(&at.to_string()) else { continue };
        let (x, y) = (label.x.unwrap_or(0.0) - label.width / 2.0, label.y.unwrap_or(0.0) - label.height / 2.0);
        (right, bottom) = (right.max(x + label.width), bottom.max(y + label.height));
        let _ = write!(
            body,
            "<g class=\"block{}\">{}<rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"{}\" height=\"{}\" rx=\"4\"/>",
            if block.marked { " marked" } else { "" },
            title(block),
            label.width,
            label.height
        );
        for (row, line) in lines.iter().enumerate() {
            let base = y + (row * ROW + 17) as f64;
            let _ = write!(body, "<text x=\"{:.0}\" y=\"{base:.0}\">{}</text>", x + 8.0, escape(line));
        }
        body.push_str("</g>");
    }
    picture(right.ceil() as usize + 10, bottom.ceil() as usize + 10, &body)
}

/// One row a block.
fn rows(blocks: &[Block], edges: &[(usize, usize, bool)]) -> String {
    let mut body = String::new();
    let y = |at: usize| at * ROW + ROW;
    let x = ARCS + 14;
    for &(from, to, dashed) in edges {
        let (top, bottom) = (y(from.min(to)), y(from.max(to)));
        let reach = x - ((bottom - top) / 2 + 6).min(ARCS).min(x);
        let kind = class(from, to, dashed);
        let _ = write!(
            body,
            "<path class=\"{kind}\" d=\"M{x} {} C{reach} {top} {reach} {bottom} {x} {}\"/>",
            y(from),
            y(to)
        );
    }
    let mut longest = 0;
    for (at, block) in blocks.iter().enumerate() {
        let class = if block.marked { "block marked" } else { "block" };
        let more = if block.lines.len() > 1 { format!(" (+{})", block.lines.len() - 1) } else { String::new() };
        let first: String = block.lines[0].chars().take(2 * MAX_LINE).collect();
        longest = longest.max(first.chars().count() + more.len());
        let _ = write!(
            body,
            "<g class=\"{class}\">{}<circle cx=\"{x}\" cy=\"{}\" r=\"4\"/><text x=\"{}\" y=\"{}\">{}{more}</text></g>",
            title(block),
            y(at),
            x + 10,
            y(at) + 4,
            escape(&first)
        );
    }
    picture(ARCS + 40 + longest * 7, (blocks.len() + 1) * ROW, &body)
}

fn class(from: usize, to: usize, dashed: bool) -> &'static str {
    match (dashed, to <= from) {
        (true, _) => "cover",
        (false, true) => "back",
        (false, false) => "flow",
    }
}

/// The whole text of a block, for when the pointer rests on it.
fn title(block: &Block) -> String {
    format!("<title>{}</title>", escape(&block.lines.join("\n")))
}

fn picture(width: usize, height: usize, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">{body}</svg>"
    )
}

/// A text as HTML and XML show it.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(count: usize, edges: &[(usize, usize)]) -> Graph {
        let nodes = (0..count).map(|at| (format!("N{at} <x>"), false)).collect();
        Graph { nodes, edges: edges.iter().map(|&(from, to)| (from, to, false)).collect(), omitted: 0 }
    }

    #[test]
    fn chains_are_one_block() {
        // A branch at 2 whose sides meet at 5, and a loop back to 1.
        let mut graph = graph(8, &[(0, 1), (1, 2), (2, 3), (2, 4), (3, 5), (4, 5), (5, 6), (6, 7), (6, 1)]);
        graph.nodes[6].1 = true;
        let (blocks, edges) = collapse(&graph);
        let lines: Vec<usize> = blocks.iter().map(|block| block.lines.len()).collect();
        assert_eq!(lines, [1, 2, 1, 1, 1, 1, 1]);
        assert_eq!(edges.len(), 8);
        let drawing = draw(&graph);
        assert!(drawing.layered && drawing.blocks == 7);
        assert_eq!(drawing.svg.matches("<path ").count(), 8);
        assert_eq!(drawing.svg.matches("class=\"back\"").count(), 1);
        assert!(drawing.svg.contains("N7 &lt;x&gt;") && !drawing.svg.contains("<x>"));
    }

    #[test]
    fn large_graphs_are_rows() {
        let edges: Vec<(usize, usize)> = (0..3000).flat_map(|at| [(at, at + 1), (at, (at * 7 + 3) % 3000)]).collect();
        let drawing = draw(&graph(3001, &edges));
        assert!(!drawing.layered && drawing.svg.contains("circle"));
    }

    #[test]
    fn odd_graphs_are_drawn() {
        for edges in [&[][..], &[(0, 0)], &[(0, 1), (1, 0)], &[(0, 1), (0, 1), (2, 2), (2, 0)]] {
            let drawing = draw(&graph(3, edges));
            assert!(drawing.layered && drawing.svg.starts_with("<svg "), "{edges:?}");
        }
        assert!(draw(&Graph::default()).svg.ends_with("</svg>"));
    }
}
