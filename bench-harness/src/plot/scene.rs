// SPDX-License-Identifier: Apache-2.0
//! A drawing made of lines, marks and texts, independent of the format it is written in.

use std::fmt::Write;

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// At its left end.
    Start,
    /// In the middle.
    Middle,
    /// At its right end.
    End,
}

/// One thing to draw; coordinates are in pixels from the upper left corner.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// A line through points; what it stands for, if anything, is shown when it is pointed at.
    Line { points: Vec<(f64, f64)>, colour: &'static str, width: f64, dashed: bool, about: Option<String> },
    /// A mark of some shape, told apart by number.
    Mark { at: (f64, f64), shape: usize, colour: &'static str, about: Option<String> },
    /// A text, possibly standing upright.
    Text { at: (f64, f64), text: String, anchor: Anchor, size: f64, upright: bool },
}

/// The drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) items: Vec<Item>,
}

/// The outlines of the marks around the origin; the number of the shape selects one.
pub(crate) fn outline(shape: usize) -> &'static [(f64, f64)] {
    const SHAPES: [&[(f64, f64)]; 5] = [
        &[(-3.0, -3.0), (3.0, -3.0), (3.0, 3.0), (-3.0, 3.0)],
        &[(0.0, -4.0), (4.0, 0.0), (0.0, 4.0), (-4.0, 0.0)],
        &[(0.0, -4.0), (3.6, 3.0), (-3.6, 3.0)],
        &[(0.0, 4.0), (3.6, -3.0), (-3.6, -3.0)],
        &[(-1.6, -3.8), (1.6, -3.8), (3.8, -1.6), (3.8, 1.6), (1.6, 3.8), (-1.6, 3.8), (-3.8, 1.6), (-3.8, -1.6)],
    ];
    SHAPES[shape % SHAPES.len()]
}

impl Scene {
    /// As SVG, complete in itself.
    pub fn svg(&self) -> String {
        let (width, height) = (self.width, self.height);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
        );
        for item in &self.items {
            item.svg(&mut svg);
        }
        svg + "</svg>\n"
    }
}

impl Item {
    fn svg(&self, svg: &mut String) {
        // Writing to a string cannot fail.
        let _ = match self {
            Item::Line { points, colour, width, dashed, about } => {
                let dash = if *dashed { " stroke-dasharray=\"5 4\"" } else { "" };
                let style = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dash}");
                writeln!(svg, "<polyline {style} points=\"{}\">{}</polyline>", list(points, (0.0, 0.0)), title(about))
            }
            Item::Mark { at, shape, colour, about } => {
                let points = list(outline(*shape), *at);
                writeln!(svg, "<polygon fill=\"{colour}\" points=\"{points}\">{}</polygon>", title(about))
            }
            Item::Text { at: (x, y), text, anchor, size, upright } => {
                let anchor = match anchor {
                    Anchor::Start => "start",
                    Anchor::Middle => "middle",
                    Anchor::End => "end",
                };
                let turn = if *upright { format!(" transform=\"rotate(-90 {x:.1} {y:.1})\"") } else { String::new() };
                let place = format!("x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\"{turn}");
                writeln!(svg, "<text {place}>{}</text>", escape(text))
            }
        };
    }
}

fn list(points: &[(f64, f64)], offset: (f64, f64)) -> String {
    let shown = points.iter().map(|(x, y)| format!("{:.1},{:.1}", x + offset.0, y + offset.1));
    shown.collect::<Vec<_>>().join(" ")
}

fn title(about: &Option<String>) -> String {
    about.as_ref().map_or(String::new(), |text| format!("<title>{}</title>", escape(text)))
}

/// Text for XML and HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML 1.0 has no way to write other control characters.
            c if c.is_control() && !matches!(c, '\n' | '\t') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
