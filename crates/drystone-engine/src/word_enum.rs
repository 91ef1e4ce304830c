//! Enums whose variants are words.

/// Declares an enum with its table of words: `ALL`, every variant in the order of declaration, and
/// `name`, the word of each.
#[doc(hidden)]
#[macro_export]
macro_rules! word_enum {
    ($(#[$meta:meta])* $vis:vis enum $type:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        $vis enum $type { $($(#[$variant_meta])* $variant,)+ }

        impl $type {
            /// Every one, in the order of declaration.
            #[allow(dead_code)] // Some tables are only written.
            $vis const ALL: [$type; [$($type::$variant),+].len()] = [$($type::$variant),+];

            /// Its word in texts and files.
            #[must_use]
            $vis const fn name(self) -> &'static str {
                match self { $($type::$variant => $word,)+ }
            }
        }
    };
}
