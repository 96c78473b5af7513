// What the program has in place of string-width: the same, made ready when a text needs it. Its tables of emoji take
// longer than most commands, and nearly all texts do without.
let width;

module.exports = text => {
  width ??= require('string-width').default;
  return width(text);
};
