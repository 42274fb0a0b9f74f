/**
 * Removes sensitive parts from a text of an external system, so that it can be used as an error message: messages reach
 * callers and must not contain credentials, addresses that identify an account, query strings, whole bodies or personal
 * data (docs/contract.md#what-the-caller-sees).
 */
const MAX_LENGTH = 300

/** Returns `text` with addresses, credentials and bodies replaced by placeholders, truncated to MAX_LENGTH characters. */
export function cleanMessage(text: string): string {
  const cleaned = text
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/gi, '[address]')
    .replace(/[\w.+-]+@[\w-]+(\.[\w-]+)+/g, '[e-mail]')
    .replace(/\b(bearer|basic|token|apikey|api-key)\s+\S{8,}/gi, '$1 [secret]')
    .replace(
      /\b([\w-]*(?:password|passwd|secret|token|api[_-]?key|authorization|signature))(["']?\s*[:=]\s*)\S+/gi,
      '$1$2[secret]',
    )
    .replace(/\?[\w.[\]%-]+=[^\s]*/g, '')
    .replace(/\b[\w-]{32,}\b/g, '[secret]')
    .replace(/[{<][\s\S]{80,}[}>]/g, '[body]')
    .replace(/\s+/g, ' ')
    .trim()
  return cleaned.length > MAX_LENGTH ? `${cleaned.slice(0, MAX_LENGTH)}…` : cleaned
}
