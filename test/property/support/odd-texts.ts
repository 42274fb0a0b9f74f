/** Texts that mean something elsewhere, look alike, or need care when they are stored, quoted or compared. */
export const oddTexts: readonly string[] = [
  ...['', ' ', 'a', 'A', 'a ', 'a  ', 'á', 'Á ', ' a', 'ab', 'Ab', 'aB%', 'a_b', '50%', '!', '!%', '!!_'],
  ...['\\', '\\%', 'a\\', "it's", "'; drop table samples; --", '"quoted"', '`tick`', '$1', '?', ':name', '/', '..a'],
  ...['\n', '\t\r', '\u0001\u001f\u007f', '\u2028', 'null', 'true', '0', '[1]', '{"a":1}', '{a,b}'],
  ...['Straße', 'ÄRGER', 'ärger', 'e\u0301', 'é', '\uffff', '😀', '👩‍👩‍👧‍👦', '😀a', '&amp;', '%2f', '+', '#'],
  ...['z'.repeat(12), 'z'.repeat(13)],
]
