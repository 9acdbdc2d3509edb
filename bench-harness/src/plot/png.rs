// SPDX-License-Identifier: Apache-2.0
//! A drawing as a picture of pixels.

use tiny_skia::{Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform};

use super::{
    font,
    scene::{Anchor, Item, Scene, outline},
};

/// Pixels for each unit of the drawing.
const SCALE: f32 = 2.0;

impl Scene {
    /// As PNG.
    pub fn png(&self) -> Result<Vec<u8>, String> {
        let [width, height] = [self.width, self.height].map(|length| (length as f32 * SCALE).ceil() as u32);
        let mut pixmap = Pixmap::new(width, height).ok_or("the drawing has no size")?;
        pixmap.fill(Color::WHITE);
        for item in &self.items {
            draw(&mut pixmap, item);
        }
        pixmap.encode_png().map_err(|e| e.to_string())
    }
}

fn draw(pixmap: &mut Pixmap, item: &Item) {
    let transform = Transform::from_scale(SCALE, SCALE);
    match item {
        Item::Line { points, colour, width, dashed, .. } => {
            let dash = if *dashed { StrokeDash::new(vec![5.0, 4.0], 0.0) } else { None };
            let stroke = Stroke { width: *width as f32, dash, line_join: LineJoin::Round, ..Stroke::default() };
            if let Some(path) = path(points, false) {
                pixmap.stroke_path(&path, &paint(colour), &stroke, transform, None);
            }
        }
        Item::Mark { at: (x, y), shape, colour, .. } => {
            let points: Vec<_> = outline(*shape).iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
            if let Some(path) = path(&points, true) {
                pixmap.fill_path(&path, &paint(colour), FillRule::Winding, transform, None);
            }
        }
        Item::Text { at: (x, y), text, anchor, size, upright } => {
            let (lines, width) = font::lines(text, *size);
            let start = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => -width / 2.0,
                Anchor::End => -width,
            };
            let place = |(px, py): &(f64, f64)| {
                let (px, py) = (px + start, *py);
                // Upright means turned to the left.
                if *upright { (x + py, y - px) } else { (x + px, y + py) }
            };
            let stroke = Stroke {
                width: (*size / 11.0) as f32,
                line_cap: LineCap::Round,
                line_join: LineJoin::Round,
                ..Stroke::default()
            };
            for line in lines {
                let points: Vec<_> = line.iter().map(place).collect();
                if let Some(path) = path(&points, false) {
                    pixmap.stroke_path(&path, &paint("#000000"), &stroke, transform, None);
                }
            }
        }
    }
}

/// None if there is nothing to draw.
fn path(points: &[(f64, f64)], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        if index == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

/// A colour in the notation `#rrggbb`; black if it is something else.
fn paint(colour: &str) -> Paint<'static> {
    let part =
        |place: usize| colour.get(place..place + 2).and_then(|text| u8::from_str_radix(text, 16).ok()).unwrap_or(0);
    let mut paint = Paint::default();
    paint.set_color_rgba8(part(1), part(3), part(5), 255);
    paint.anti_alias = true;
    paint
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_marks_and_texts_leave_pixels() {
        let items = [
            Item::Line {
                points: vec![(2.0, 20.0), (38.0, 20.0)],
                colour: "#ff0000",
                width: 2.0,
                dashed: false,
                about: None,
            },
            Item::Mark { at: (20.0, 20.0), shape: 0, colour: "#0000ff", about: None },
            Item::Text { at: (20.0, 35.0), text: "x".into(), anchor: Anchor::Middle, size: 12.0, upright: true },
        ];
        for item in items {
            let scene = Scene { width: 40.0, height: 40.0, items: vec![item] };
            let pixmap = Pixmap::decode_png(&scene.png().unwrap()).unwrap();
            assert_eq!((pixmap.width(), pixmap.height()), (80, 80));
            let coloured = pixmap.pixels().iter().filter(|pixel| pixel.green() < 100).count();
            assert!((20..500).contains(&coloured), "{:?}: {coloured}", scene.items);
        }
    }
}
