/** The messages of an error's answer. */
export type ErrorMessage = { readonly message: string; readonly source?: ErrorMessage }

/** Its messages, the outermost first and by itself: an answer's also says what is nested (docs/contract.md#errors). */
export function messagesOf(body: unknown): readonly string[] {
  const { message, source } = body as ErrorMessage
  if (source === undefined) return [message]
  const nested = messagesOf(source)
  const all = `: ${nested.join(': ')}`
  return [message.endsWith(all) ? message.slice(0, -all.length) : message, ...nested]
}

/** The answer of a refusal to whoever sent no credential. */
export function refusedAnonymous(reason: string) {
  const message = 'no credential was sent'
  return { message: `${reason}: ${message}`, source: { message } }
}
