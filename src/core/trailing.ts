/** Ends of texts. A regular expression that looks for a run at the end takes the square of the text's length where there is none. */

/** The text without this character, as often as it stands at the end. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end -= 1
  return text.slice(0, end)
}
