/** Longer programs are not read. */
const LONGEST = 4096;

/** Keywords, and functions that only compute. Not `env`, `input_filename`, `import`, `include`, `modulemeta`, `$ENV`. */
const known = new Set(
  `def if then elif else end as reduce foreach try catch and or not label break true false null
  abs acos acosh add all any arrays ascii ascii_downcase ascii_upcase asin asinh atan atan2 booleans bsearch builtins
  capture cbrt ceil combinations contains cos cosh debug del delpaths empty endswith error exp exp10 exp2 explode
  fabs finites first flatten floor fmax fmin fmod fromdate fromdateiso8601 fromjson fromstream from_entries getpath gmtime
  group_by gsub halt halt_error has have_literal_numbers implode in index indices infinite input inputs input_line_number
  inside isempty isfinite isinfinite isnan isnormal isvalid iterables join keys keys_unsorted last length limit localtime
  log log10 log2 logb ltrim ltrimstr map map_values match max max_by min min_by mktime nan normals now nth nulls numbers
  objects path paths pick pow pow10 range recurse recurse_down repeat reverse rindex round rtrim rtrimstr scalars scan
  select setpath sin sinh skip sort sort_by split splits sqrt startswith stderr strflocaltime strftime strings strptime
  sub tan tanh test toarray to_entries toboolean todate todateiso8601 tojson tonumber tostream tostring transpose trim
  trunc truncate_stream type unique unique_by until update_entries utf8bytelength values walk while with_entries gamma
  lgamma tgamma significand drem ldexp scalb scalbln nearbyint __loc__`.split(/\s+/),
);

/**
 * Whether a jq program only computes: every name in it, also within strings, is a keyword, a known function, a field,
 * or defined in the program itself.
 */
export function isHarmlessJq(program: string): boolean {
  if (program.length > LONGEST || program.includes('#')) return false;
  const defined = new Set([...program.matchAll(/\bdef\s+([A-Za-z_]\w*)/g)].map(([, name = '']) => name));
  for (const name of ['env', 'import', 'include', 'input_filename', 'modulemeta', 'get_search_list'])
    if (defined.has(name)) return false;
  // Text within strings is not code, except in \(…).
  const code = program.includes('\\(') ? program : program.replace(/"(?:\\.|[^"\\])*"/g, '""');
  if (/"/.test(code.replace(/"(?:\\.|[^"\\])*"/g, ''))) return false;
  // Brackets within a string would count as code.
  const interpolates = code.includes('\\(');
  // A keyword within braces may make a comma part of a value: `{a: if . then 1, env else 2 end}`.
  const brackets: string[] = [];
  const keywords = new Set(['if', 'reduce', 'foreach', 'try', 'def', 'label', 'as']);
  let before = '';
  for (const {0: token, index} of code.matchAll(/[A-Za-z_]\w*|\S/g)) {
    if (/^[A-Za-z_]/.test(token)) {
      if (keywords.has(token) && before !== '.' && brackets.at(-1) === '{') brackets[brackets.length - 1] = '(';
      const after = code
        .slice(index + token.length)
        .trimStart()
        .charAt(0);
      const isKey = !interpolates && brackets.at(-1) === '{' && /[{,]/.test(before) && /[,:}]/.test(after);
      // `. env` is not the field `env`.
      const isName = isKey || /[.@$]/.test(code.charAt(index - 1));
      if (token === 'ENV' && before === '$') return false;
      if (!isName && !known.has(token) && !defined.has(token)) return false;
    } else if ('([{'.includes(token)) brackets.push(token);
    else if (')]}'.includes(token)) brackets.pop();
    before = token;
  }
  return true;
}
