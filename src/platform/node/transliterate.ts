/** LoadTransliterate on Node, by the package itself. */
import type { LoadTransliterate } from '../../ports/ports.ts'

export const loadTransliterate: LoadTransliterate = async () => {
  const { default: transliterate } = await import('@sindresorhus/transliterate')
  return (text) => transliterate(text)
}
