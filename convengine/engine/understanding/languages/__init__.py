"""The tables of each language, a folder each: `words.toml`, `calendar.toml`, `numbers.toml`, `say.toml`.

`[classes]` has lists of words, `[classes.NAME]` words with their values, `values` classes of values with their words;
`[spelling]` other spellings; `compounds` pairs of classes whose words are written together. Every other list of tables
has the phrases of that name: `means`, `text`, and constants.
"""
