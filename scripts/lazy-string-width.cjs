// What the program has in place of string-width: the same, made ready when a text needs it. Its tables of emoji take
// longer than most commands, and nearly all texts do without.
let width;

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them
const COLOURS = /\u001b\[[0-9;]*m/g;
/** Characters that are one column wide. */
const NARROW = /^[ -~·…│─→◐●▲✓✗‖•]*$/;

module.exports = text => {
  const plain = text.includes('\u001b') ? text.replace(COLOURS, '') : text;
  if (NARROW.test(plain)) return plain.length;
  width ??= require('string-width').default;
  return width(text);
};
