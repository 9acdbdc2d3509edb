// SPDX-License-Identifier: Apache-2.0
//! What attributes and assembly labels say about the symbols behind names, and which code they make run without a call.

/// What an attribute or label says. A name is missing where it cannot be read off the tokens around.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Link {
    /// `int f(void) __attribute__((alias("g")));`
    Alias(Option<String>, String),
    /// `int f(void) __asm__("g");`
    Label(Option<String>, String),
    /// `int f(void) __attribute__((weak));`
    Weak(Option<String>),
    /// `void f(void) __attribute__((noreturn));`
    Ending(Option<String>),
    /// Something that changes what is executed, or how objects are laid out, in a way that nobody here follows.
    Unseen(String),
}

/// Attributes after which the program does something that its text does not say.
const UNSEEN: [&str; 7] = ["constructor", "destructor", "cleanup", "ifunc", "weakref", "ms_struct", "symver"];

/// Sections whose content is called at the start or end of a program.
const SECTIONS: [&str; 7] = [".init_array", ".preinit_array", ".fini_array", ".ctors", ".dtors", ".init", ".fini"];

/// Pragmas that change the symbols behind names, or the layout of structures.
const PRAGMAS: [&str; 4] = ["weak", "redefine_extname", "scalar_storage_order", "ms_struct"];

/// What the attributes and labels at the given ranges of a source say, and the pragmas; in `base` they and all comments are blank.
pub(crate) fn read(source: &str, base: &[u8], found: &[(usize, usize)]) -> Vec<(u32, Link)> {
    let mut links = Vec::new();
    for &(start, end) in found {
        let (words, text) = parts(&source[start..end]);
        let name = || declared(base, start, end);
        let mut add = |link| links.push((u32::try_from(start).expect("checked by the caller"), link));
        if words[0] == "pragma" {
            let follows = |word: &&String| PRAGMAS.contains(&word.as_str());
            words.get(1).filter(follows).into_iter().for_each(|word| add(Link::Unseen(format!("#pragma {word}"))));
            continue;
        }
        if words[0] == "Noreturn" {
            add(Link::Ending(name()));
            continue;
        }
        if words[0].contains("asm") {
            add(Link::Label(name(), text));
            continue;
        }
        for word in &words[1..] {
            match word.as_str() {
                "alias" => add(Link::Alias(name(), text.clone())),
                "weak" | "weak_import" => add(Link::Weak(name())),
                "noreturn" => add(Link::Ending(name())),
                "section" if SECTIONS.iter().any(|name| is_part(&text, name)) => {
                    add(Link::Unseen(format!("the section '{text}'")));
                }
                word if UNSEEN.contains(&word) => add(Link::Unseen(format!("the attribute '{word}'"))),
                _ => {}
            }
        }
    }
    links
}

/// The words of an attribute, without the underscores around them, and what is in its string literals.
fn parts(text: &str) -> (Vec<String>, String) {
    let (mut words, mut strings) = (Vec::new(), String::new());
    for (at, part) in text.split('"').enumerate() {
        if at % 2 == 1 {
            strings.push_str(part);
            continue;
        }
        let found = part.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        words.extend(found.map(|word| word.trim_matches('_').to_owned()));
    }
    (words, strings)
}

/// Whether a section is the one of this name, or one of those with a priority: `.ctors.100`.
fn is_part(section: &str, name: &str) -> bool {
    let priority = section.strip_prefix(name).map(|rest| rest.trim_start_matches('.'));
    priority.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
}

/// The name whose declaration the text from `start` to `end` belongs to.
fn declared(base: &[u8], start: usize, end: usize) -> Option<String> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'$';
    let word = |from: usize, to: usize| {
        let word = String::from_utf8_lossy(&base[from..to]).into_owned();
        (from < to && !word.starts_with(|c: char| c.is_ascii_digit())).then_some(word)
    };
    let next = base[end..].iter().find(|byte| !byte.is_ascii_whitespace());
    if next.is_none_or(|byte| !matches!(byte, b';' | b',' | b'=' | b'{')) {
        // In front of a declarator: the name is the last word before what follows it.
        let stop = end + base[end..].iter().position(|byte| b"(;=[,{)".contains(byte))?;
        let last = stop - base[end..stop].iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
        let inside = base[stop + 1..].iter().find(|byte| !byte.is_ascii_whitespace());
        let named = base[stop] != b'(' || inside.is_none_or(|byte| !matches!(byte, b'*' | b'('));
        let first = last - base[end..last].iter().rev().take_while(|byte| is_word(byte)).count();
        return named.then(|| word(first, last)).flatten();
    }
    // Behind a declarator: the name is in front of parameters and lengths.
    let mut at = start;
    let mut groups = 0;
    loop {
        at -= base[..at].iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
        match base[..at].last()? {
            b')' if groups > 0 => return None,
            b')' | b']' => {
                let mut open = 0;
                loop {
                    at = at.checked_sub(1)?;
                    match base[at] {
                        b')' | b']' => open += 1,
                        b'(' | b'[' => open -= 1,
                        _ => {}
                    }
                    if open == 0 {
                        break;
                    }
                }
                groups += u32::from(base[at] == b'(');
            }
            byte if is_word(byte) => {
                let first = at - base[..at].iter().rev().take_while(|byte| is_word(byte)).count();
                return word(first, at);
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(source: &str) -> Vec<Link> {
        crate::prepass::scan(source).unwrap().links.into_iter().map(|(_, link)| link).collect()
    }

    #[test]
    fn names_are_found() {
        let name = |name: &str| Some(name.to_owned());
        assert_eq!(
            links("int f(int (*g)(void)) __attribute__((__alias__(\"h\")));"),
            [Link::Alias(name("f"), "h".into())]
        );
        assert_eq!(links("extern int a[3][N], b __attribute__((weak, used));"), [Link::Weak(name("b"))]);
        assert_eq!(links("extern int a[3][N] __attribute__((weak)) ;"), [Link::Weak(name("a"))]);
        assert_eq!(links("void __attribute__((weak)) __attribute__((cold)) f (void);"), [Link::Weak(name("f"))]);
        assert_eq!(links("__attribute__((weak)) struct s *p;"), [Link::Weak(name("p"))]);
        assert_eq!(
            links("int f(void) __asm__(\"\" \"g\") __attribute__((pure));"),
            [Link::Label(name("f"), "g".into())]
        );
        assert_eq!(links("int (*f(void))(int) __attribute__((weak));"), [Link::Weak(None)]);
        assert_eq!(links("__attribute__((weak)) void (*f)(void);"), [Link::Weak(None)]);
        assert_eq!(
            links("__attribute__((constructor(101))) void f(void) {}"),
            [Link::Unseen("the attribute 'constructor'".into())]
        );
        assert_eq!(links("#pragma weak f = g\n#pragma omp weak\n"), [Link::Unseen("#pragma weak".into())]);
        assert_eq!(
            links("void (*p)(void) __attribute__((used, section(\".ctors.10\"))) = f;"),
            [Link::Unseen("the section '.ctors.10'".into())]
        );
        assert_eq!(links("int f(void) __attribute__((__section__(\".init.text\"))) { return 0; }"), []);
        assert_eq!(links("void f(void) __attribute__((section(\"weak\"), format(printf, 1, 2)));"), []);
        assert_eq!(links("extern void f(int) __attribute__((__noreturn__, cold));"), [Link::Ending(name("f"))]);
        assert_eq!(links("extern _Noreturn void f(int), g(void);"), [Link::Ending(name("f"))]);
    }
}
