/** The entries of a conversation as they are shown: what the service keeps, and what comes while an answer is made. */
import type { AnswerEvent, Approval, Call, Conversation } from '../../data/assistant.ts'

export type Step = Call & { readonly result: string; readonly isError: boolean }

export type ShownEntry =
  | { readonly kind: 'user'; readonly text: string; readonly isUnanswered?: boolean }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'step'; readonly step: Step }
  | { readonly kind: 'approval'; readonly approval: Approval; readonly outcome?: Pick<Step, 'result' | 'isError'> }
  | { readonly kind: 'error'; readonly text: string }

/** Of what the service keeps. A call that waited is shown as such, with what came of it. */
export function shownEntriesOf({ entries, approvals }: Conversation): readonly ShownEntry[] {
  const results = new Map(entries.flatMap((entry) => (entry.kind === 'result' ? [[entry.callId, entry] as const] : [])))
  const waiting = [...approvals]
  const outcomes = entries.filter((entry) => entry.kind === 'outcome')
  return entries.flatMap((entry, place): readonly ShownEntry[] => {
    if (entry.kind === 'user') return [{ ...entry, isUnanswered: entries[place + 1]?.kind === 'user' }]
    if (entry.kind !== 'assistant') return []
    const text: readonly ShownEntry[] = entry.text === '' ? [] : [{ kind: 'text', text: entry.text }]
    const calls = entry.calls.map((call): ShownEntry => {
      const at = waiting.findIndex(({ tool, arguments: sent }) => tool === call.tool && sent === call.arguments)
      const result = results.get(call.id)
      const approval = result?.isError === false ? waiting[at] : undefined
      if (approval === undefined) {
        return { kind: 'step', step: { ...call, result: result?.text ?? '', isError: result?.isError ?? true } }
      }
      waiting.splice(at, 1)
      if (approval.state !== 'approved') return { kind: 'approval', approval }
      const outcome = outcomes.splice(0, 1)[0]
      return {
        kind: 'approval',
        approval,
        ...(outcome && { outcome: { result: outcome.text, isError: outcome.isError } }),
      }
    })
    return [...text, ...calls]
  })
}

/** With an event of an answer behind what was said before. */
export function withEvent(shown: readonly ShownEntry[], event: AnswerEvent): readonly ShownEntry[] {
  const last = shown.at(-1)
  switch (event.name) {
    case 'text':
      if (last?.kind !== 'text') return [...shown, { kind: 'text', text: event.data.text }]
      return [...shown.slice(0, -1), { kind: 'text', text: last.text + event.data.text }]
    case 'tool':
      return [...shown, { kind: 'step', step: event.data }]
    case 'approval':
      return [...shown, { kind: 'approval', approval: { ...event.data, state: 'pending' } }]
    case 'error':
      return [...shown, { kind: 'error', text: event.data.message }]
    default:
      return shown
  }
}
