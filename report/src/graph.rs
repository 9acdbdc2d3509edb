// SPDX-License-Identifier: Apache-2.0
//! Drawings of graphs whose nodes have a natural order: one row a node, edges as arcs at the side (Wattenberg, *Arc
//! Diagrams*, 2002). The layout takes linear time and does not degrade on large graphs.

use std::fmt::Write;

/// Height of a row.
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

/// The graph as SVG.
pub fn svg(graph: &Graph) -> String {
    let longest = graph.nodes.iter().map(|(text, _)| text.chars().count()).max().unwrap_or(0);
    let (width, height) = (ARCS + 40 + longest * 7, (graph.nodes.len() + 1) * ROW);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">"
    );
    let y = |at: usize| at * ROW + ROW;
    for &(from, to, dashed) in &graph.edges {
        let (top, bottom) = (y(from.min(to)), y(from.max(to)));
        let reach = ((bottom - top) / 2 + 6).min(ARCS);
        let kind = match (dashed, to <= from) {
            (true, _) => "cover",
            (false, true) => "back",
            (false, false) => "flow",
        };
        let x = ARCS + 14;
        let _ = write!(
            out,
            "<path class=\"{kind}\" d=\"M{x} {} C{} {top} {} {bottom} {x} {}\"/>",
            y(from),
            x - reach.min(x),
            x - reach.min(x),
            y(to)
        );
    }
    for (at, (text, marked)) in graph.nodes.iter().enumerate() {
        let class = if *marked { " class=\"marked\"" } else { "" };
        let _ = write!(
            out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"4\"{class}/><text x=\"{}\" y=\"{}\">{}</text>",
            ARCS + 14,
            y(at),
            ARCS + 24,
            y(at) + 4,
            escape(text)
        );
    }
    out + "</svg>"
}

/// A text as HTML and XML show it.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
