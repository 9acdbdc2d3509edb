// SPDX-License-Identifier: Apache-2.0
//! Letters as lines, so that a picture of pixels needs no font of the machine. A glyph is some lines through points, each
//! two digits: how far right (0 to 4) and how far down (0 to 8, the base line is 6).

/// The glyphs in the order of their characters.
const GLYPHS: &[(char, &str)] = &[
    (' ', ""),
    ('!', "20 24,25 26"),
    ('"', "10 11,30 31"),
    ('#', "10 16,30 36,02 42,04 44"),
    ('%', "06 40,00 01,45 46"),
    ('&', "46 11 10 20 21 04 05 16 26 44"),
    ('\'', "20 21"),
    ('(', "20 12 14 26"),
    (')', "10 22 24 16"),
    ('*', "12 34,32 14,03 43"),
    ('+', "04 44,22 26"),
    (',', "15 07"),
    ('-', "04 34"),
    ('.', "05 06"),
    ('/', "06 40"),
    ('0', "10 30 41 45 36 16 05 01 10"),
    ('1', "11 20 26,16 36"),
    ('2', "01 10 30 41 42 06 46"),
    ('3', "00 40 22 32 43 45 36 16 05"),
    ('4', "36 30 04 44"),
    ('5', "40 00 02 32 43 45 36 16 05"),
    ('6', "40 10 01 05 16 36 45 43 32 12 03"),
    ('7', "00 40 16"),
    ('8', "10 30 41 42 33 13 02 01 10,13 04 05 16 36 45 44 33"),
    ('9', "06 36 45 41 30 10 01 03 14 34 43"),
    (':', "02 03,05 06"),
    (';', "12 13,15 07"),
    ('<', "42 04 46"),
    ('=', "03 43,05 45"),
    ('>', "02 44 06"),
    ('?', "01 10 30 41 32 23 24,25 26"),
    ('A', "06 20 46,14 34"),
    ('B', "06 00 30 41 42 33 03,33 44 45 36 06"),
    ('C', "41 30 10 01 05 16 36 45"),
    ('D', "00 06 26 44 42 20 00"),
    ('E', "40 00 06 46,03 33"),
    ('F', "40 00 06,03 33"),
    ('G', "41 30 10 01 05 16 36 45 43 23"),
    ('H', "00 06,40 46,03 43"),
    ('I', "00 20,10 16,06 26"),
    ('J', "30 35 26 16 05"),
    ('K', "00 06,40 03 46"),
    ('L', "00 06 46"),
    ('M', "06 00 23 40 46"),
    ('N', "06 00 46 40"),
    ('O', "10 30 41 45 36 16 05 01 10"),
    ('P', "06 00 30 41 42 33 03"),
    ('Q', "10 30 41 45 36 16 05 01 10,24 46"),
    ('R', "06 00 30 41 42 33 03,23 46"),
    ('S', "41 30 10 01 02 13 33 44 45 36 16 05"),
    ('T', "00 40,20 26"),
    ('U', "00 05 16 36 45 40"),
    ('V', "00 26 40"),
    ('W', "00 16 22 36 40"),
    ('X', "00 46,40 06"),
    ('Y', "00 23 40,23 26"),
    ('Z', "00 40 06 46"),
    ('[', "20 00 06 26"),
    (']', "00 20 26 06"),
    ('^', "02 20 42"),
    ('_', "07 47"),
    ('a', "12 32 43 46,44 14 05 16 36 45"),
    ('b', "00 06,03 12 32 43 45 36 16 05"),
    ('c', "43 32 12 03 05 16 36 45"),
    ('d', "40 46,43 32 12 03 05 16 36 45"),
    ('e', "04 44 43 32 12 03 05 16 36 45"),
    ('f', "30 20 11 16,02 32"),
    ('g', "42 47 38 18 07,43 32 12 03 05 16 36 45"),
    ('h', "00 06,03 12 32 43 46"),
    ('i', "02 06,00 01"),
    ('j', "22 27 18 08,20 21"),
    ('k', "00 06,42 04 46"),
    ('l', "00 05 16"),
    ('m', "02 06,03 12 23 26,23 32 43 46"),
    ('n', "02 06,03 12 32 43 46"),
    ('o', "12 32 43 45 36 16 05 03 12"),
    ('p', "02 08,03 12 32 43 45 36 16 05"),
    ('q', "42 48,43 32 12 03 05 16 36 45"),
    ('r', "02 06,04 12 32"),
    ('s', "42 12 03 14 34 45 36 06"),
    ('t', "10 15 26 36,02 32"),
    ('u', "02 05 16 36 45,42 46"),
    ('v', "02 26 42"),
    ('w', "02 16 23 36 42"),
    ('x', "02 46,42 06"),
    ('y', "02 26,42 26 08"),
    ('z', "02 42 06 46"),
    ('{', "30 21 22 13 24 25 36"),
    ('|', "00 07"),
    ('}', "10 21 22 33 24 25 16"),
    ('~', "04 13 34 43"),
];

/// What stands for a character that has no glyph.
const BOX: &str = "00 40 46 06 00";
/// The height of a capital letter, in units of the glyphs and as a part of the size of the text.
const CAPITAL: (f64, f64) = (6.0, 0.7);
/// The space after a glyph.
const GAP: f64 = 1.8;

/// The lines of a text that begins at the origin and stands on the x axis, y downwards, and its width.
pub(super) fn lines(text: &str, size: f64) -> (Vec<Vec<(f64, f64)>>, f64) {
    let scale = size * CAPITAL.1 / CAPITAL.0;
    let mut lines = Vec::new();
    let mut x = 0.0;
    for character in text.chars() {
        let glyph = GLYPHS.binary_search_by_key(&character, |(known, _)| *known).map_or(BOX, |index| GLYPHS[index].1);
        let mut width: f64 = if glyph.is_empty() { 2.0 } else { 0.0 };
        for line in glyph.split(',').filter(|line| !line.is_empty()) {
            let points = line.split(' ').map(|point| {
                let [right, down] = [0, 1].map(|index| f64::from(point.as_bytes()[index] - b'0'));
                width = width.max(right);
                ((x + right) * scale, (down - CAPITAL.0) * scale)
            });
            lines.push(points.collect());
        }
        x += width + GAP;
    }
    (lines, (x - GAP).max(0.0) * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyphs_are_in_order_and_well_formed() {
        assert!(GLYPHS.is_sorted_by(|a, b| a.0 < b.0));
        for (character, glyph) in GLYPHS {
            let points = glyph.split([',', ' ']).filter(|point| !point.is_empty());
            let fine = |point: &str| matches!(point.as_bytes(), [right, down] if (b'0'..=b'4').contains(right) && (b'0'..=b'8').contains(down));
            assert!(points.into_iter().all(fine), "{character}");
        }
    }

    #[test]
    fn texts_have_a_width() {
        let width = |text| lines(text, 12.0).1;
        assert!(width("") == 0.0 && width("i") < width("m") && width("time") > 3.0 * width("i"));
        // Six units are 8.4 high.
        let (lines, _) = lines("L", 12.0);
        let ends = [(0.0, -8.4), (0.0, 0.0), (5.6, 0.0)];
        assert!(
            lines[0].iter().zip(ends).all(|(a, b)| (a.0 - b.0).abs() < 1e-9 && (a.1 - b.1).abs() < 1e-9),
            "{lines:?}"
        );
    }
}
