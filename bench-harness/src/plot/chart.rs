// SPDX-License-Identifier: Apache-2.0
//! Charts: axes with linear or logarithmic scale, series of points, a legend.

use super::scene::{Anchor, Item, Scene};
use crate::units::significant;

/// Colours that remain distinct for the colour-blind (after Okabe and Ito), black first.
const COLOURS: [&str; 8] = ["#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d00"];
const GREY: &str = "#dddddd";
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 520.0;
/// Space around the field: left, top, bottom; the right side depends on the legend.
const LEFT: f64 = 74.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 56.0;
const LINE: f64 = 17.0;

/// How the points of a series are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Joined by a line, with marks.
    Line,
    /// Marks only.
    Points,
}

/// Points that belong together.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// Place and what it stands for.
    pub(crate) points: Vec<(f64, f64, String)>,
    pub(crate) kind: Kind,
}

/// A direction of the chart.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) log: bool,
    /// The ends; points outside are moved to them.
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Axis {
    /// An axis on which all values have a place. Logarithmic axes begin at a positive value.
    pub(crate) fn around(label: String, log: bool, values: impl Iterator<Item = f64> + Clone) -> Axis {
        let positive = |v: &f64| v.is_finite() && (!log || *v > 0.0);
        let least = values.clone().filter(positive).fold(f64::INFINITY, f64::min);
        let most = values.filter(positive).fold(f64::NEG_INFINITY, f64::max);
        let (from, to) = match (least <= most, log) {
            (false, _) => (if log { 0.1 } else { 0.0 }, 1.0),
            (true, true) => (10_f64.powf(least.log10().floor()), 10_f64.powf((most * 1.001).log10().ceil())),
            (true, false) => (least.min(0.0), if most > 0.0 { most * 1.04 } else { 1.0 }),
        };
        Axis { label, log, from, to }
    }

    /// The place of a value, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let value = value.clamp(self.from, self.to);
        if self.log {
            (value / self.from).log10() / (self.to / self.from).log10()
        } else {
            (value - self.from) / (self.to - self.from)
        }
    }

    fn ticks(&self) -> Vec<f64> {
        if self.log {
            let decades = (self.to / self.from).log10().round() as i32;
            let steps: &[f64] = if decades <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
            let values = (0..=decades).flat_map(|d| steps.iter().map(move |s| self.from * 10_f64.powi(d) * s));
            return values.filter(|value| *value <= self.to * 1.0001).collect();
        }
        let rough = (self.to - self.from) / 6.0;
        let unit = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|s| s * unit).find(|s| *s >= rough).unwrap_or(rough);
        let first = (self.from / step).ceil() as i64;
        (first..).map(|n| n as f64 * step).take_while(|value| *value <= self.to).collect()
    }
}

/// A whole chart.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    /// Whether equal values are joined by a line.
    pub(crate) diagonal: bool,
}

impl Chart {
    /// Draws it.
    pub(crate) fn scene(&self) -> Scene {
        let longest = self.series.iter().map(|s| s.name.chars().count()).max().unwrap_or(0);
        let legend = if self.series.len() > 1 { 34.0 + 6.6 * longest.min(60) as f64 } else { 20.0 };
        let height = HEIGHT.max(TOP + BOTTOM + LINE * self.series.len() as f64);
        let field = Field { left: LEFT, top: TOP, right: WIDTH - 20.0, bottom: height - BOTTOM };
        let mut scene = Scene { width: WIDTH + legend, height, items: Vec::new() };
        self.frame(&field, &mut scene.items);
        if self.diagonal {
            let from = self.x.from.max(self.y.from);
            let to = self.x.to.min(self.y.to);
            let points = [from, to].map(|v| field.at(self, v, v)).to_vec();
            scene.items.push(line(points, "#888888", 1.0, true));
        }
        for (index, series) in self.series.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let points: Vec<(f64, f64)> = series.points.iter().map(|(x, y, _)| field.at(self, *x, *y)).collect();
            if series.kind == Kind::Line {
                let about = Some(series.name.clone());
                let dashed = index / COLOURS.len() % 2 == 1;
                scene.items.push(Item::Line { points: points.clone(), colour, width: 1.6, dashed, about });
            }
            // Marks on a dense line would hide it.
            let every = if series.kind == Kind::Line { points.len().div_ceil(40).max(1) } else { 1 };
            for (at, (_, _, about)) in points.into_iter().zip(&series.points).step_by(every) {
                scene.items.push(Item::Mark { at, shape: index, colour, about: Some(about.clone()) });
            }
            if self.series.len() > 1 {
                let y = TOP + LINE * (index as f64 + 0.5);
                scene.items.push(Item::Mark { at: (WIDTH, y), shape: index, colour, about: None });
                scene.items.push(text((WIDTH + 10.0, y + 4.0), &series.name, Anchor::Start, 12.0));
            }
        }
        scene
    }

    fn frame(&self, field: &Field, items: &mut Vec<Item>) {
        for value in self.x.ticks() {
            let (x, _) = field.at(self, value, self.y.from);
            items.push(line(vec![(x, field.top), (x, field.bottom)], GREY, 1.0, false));
            items.push(text((x, field.bottom + 17.0), &number(value), Anchor::Middle, 12.0));
        }
        for value in self.y.ticks() {
            let (_, y) = field.at(self, self.x.from, value);
            items.push(line(vec![(field.left, y), (field.right, y)], GREY, 1.0, false));
            items.push(text((field.left - 6.0, y + 4.0), &number(value), Anchor::End, 12.0));
        }
        let Field { left, top, right, bottom } = *field;
        let frame = vec![(left, top), (left, bottom), (right, bottom), (right, top), (left, top)];
        items.push(line(frame, "#000000", 1.0, false));
        items.push(text(((left + right) / 2.0, top - 14.0), &self.title, Anchor::Middle, 15.0));
        items.push(text(((left + right) / 2.0, bottom + 40.0), &self.x.label, Anchor::Middle, 13.0));
        let (at, text) = ((18.0, (top + bottom) / 2.0), self.y.label.clone());
        items.push(Item::Text { at, text, anchor: Anchor::Middle, size: 13.0, upright: true });
    }
}

/// Where the points go, in pixels.
struct Field {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Field {
    fn at(&self, chart: &Chart, x: f64, y: f64) -> (f64, f64) {
        (
            self.left + (self.right - self.left) * chart.x.place(x),
            self.bottom - (self.bottom - self.top) * chart.y.place(y),
        )
    }
}

fn line(points: Vec<(f64, f64)>, colour: &'static str, width: f64, dashed: bool) -> Item {
    Item::Line { points, colour, width, dashed, about: None }
}

fn text(at: (f64, f64), text: &str, anchor: Anchor, size: f64) -> Item {
    Item::Text { at, text: text.into(), anchor, size, upright: false }
}

/// A number at a tick.
fn number(value: f64) -> String {
    let text = significant(value, 3);
    let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    match value.abs() {
        v if v >= 1e12 => format!("{value:.0e}"),
        v if v >= 1e9 => format!("{}G", value / 1e9),
        v if v >= 1e6 => format!("{}M", value / 1e6),
        _ => short.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes() {
        let log = Axis::around(String::new(), true, [0.3, 42.0, 0.0].into_iter());
        assert_eq!((log.from, log.to), (0.1, 100.0));
        assert_eq!(log.ticks(), [0.1, 1.0, 10.0, 100.0]);
        assert!((log.place(1.0) - 1.0 / 3.0).abs() < 1e-9 && log.place(0.0) == 0.0 && log.place(1e9) == 1.0);
        let linear = Axis::around(String::new(), false, [3.0, 100.0].into_iter());
        assert_eq!((linear.from, linear.ticks()), (0.0, vec![0.0, 20.0, 40.0, 60.0, 80.0, 100.0]));
        // Nothing to show is no reason to divide by zero.
        let empty = Axis::around(String::new(), true, std::iter::empty());
        assert!(empty.place(0.5).is_finite() && !empty.ticks().is_empty());
    }

    #[test]
    fn numbers() {
        assert_eq!([0.05, 1.0, 250.0, 1800.0, 2e6, 3e9].map(number), ["0.05", "1", "250", "1800", "2M", "3G"]);
    }
}
