/**
 * A conversation with the assistant, as it is kept and as a model is sent it (docs/contract.md#assistant). Entries are only
 * added. A conversation that ended anywhere, also between a call of a tool and its result, can go on.
 */
import { fenced } from './prompt.ts'

/** A call of a tool as a model made it; `arguments` is its text, which may be no JSON. */
export type ToolCall = { readonly id: string; readonly tool: string; readonly arguments: string }

/** `reasoning` is what a provider wants back as it came, while the calls behind it are answered; nobody else reads it. */
export type ModelTurn = {
  readonly text: string
  readonly calls: readonly ToolCall[]
  readonly reasoning?: readonly object[]
}

export type ConversationEntry =
  | { readonly kind: 'user'; readonly text: string }
  | ({ readonly kind: 'assistant' } & ModelTurn)
  | { readonly kind: 'result'; readonly callId: string; readonly text: string; readonly isError: boolean }
  /** What the user said to a call that waited. */
  | { readonly kind: 'decision'; readonly tool: string; readonly isApproved: boolean }
  /** What became of a call that was approved. */
  | { readonly kind: 'outcome'; readonly tool: string; readonly text: string; readonly isError: boolean }

/** What models take: texts of either side in turns, and after calls their results. */
export type Turn =
  | { readonly kind: 'user'; readonly text: string; readonly results: readonly ToolResult[] }
  | ({ readonly kind: 'assistant' } & ModelTurn)

export type ToolResult = { readonly callId: string; readonly text: string; readonly isError: boolean }

/** Characters of a conversation that a model is sent; what came before is left out. */
const MOST_SENT = 200_000

const NOT_RUN = 'This was not run: the conversation ended before.'

/** Of all results since the user spoke last, also of calls that waited for a yes. */
export function charactersOfResults(entries: readonly ConversationEntry[]): number {
  const since = entries.slice(entries.findLastIndex(({ kind }) => kind === 'user') + 1)
  const lengths = since.map((entry) => (entry.kind === 'result' || entry.kind === 'outcome' ? entry.text.length : 0))
  return lengths.reduce((sum, length) => sum + length, 0)
}

/** The last turns of a conversation, beginning with one of the user. */
export function turnsOf(entries: readonly ConversationEntry[]): readonly Turn[] {
  const turns: Turn[] = []
  for (const entry of entries) {
    const last = turns.at(-1)
    if (entry.kind === 'assistant') {
      // Two in a row are those of a request that went on by itself.
      turns.push({ ...entry, text: entry.text || (entry.calls.length === 0 ? '…' : '') })
      continue
    }
    const userTurn = userTurnOf(entry)
    if (last?.kind === 'user') {
      const texts = [last.text, userTurn.text].filter((text) => text !== '')
      turns[turns.length - 1] = { ...last, text: texts.join('\n\n'), results: [...last.results, ...userTurn.results] }
    } else turns.push({ kind: 'user', ...userTurn })
  }
  return shortened(withoutFormerReasoning(answered(turns)))
}

function userTurnOf(
  entry: Exclude<ConversationEntry, { kind: 'assistant' }>,
): Omit<Extract<Turn, { kind: 'user' }>, 'kind'> {
  switch (entry.kind) {
    case 'user':
      return { text: entry.text, results: [] }
    case 'result':
      return { text: '', results: [{ callId: entry.callId, text: fenced(entry.text), isError: entry.isError }] }
    case 'decision':
      return { text: `I ${entry.isApproved ? 'approved' : 'declined'} the call of ${entry.tool}.`, results: [] }
    case 'outcome':
      return { text: `What came of ${entry.tool}:\n${fenced(entry.text)}`, results: [] }
  }
}

/** Each call has exactly one result behind it, and turns alternate. */
function answered(turns: readonly Turn[]): readonly Turn[] {
  const whole: Turn[] = []
  for (const turn of turns) {
    const before = whole.at(-1)
    if (turn.kind === 'assistant') {
      if (before?.kind === 'assistant') whole.push(repliesTo(before, { kind: 'user', text: '', results: [] }))
      if (whole.length > 0) whole.push(turn)
    } else whole.push(before?.kind === 'assistant' ? repliesTo(before, turn) : { ...turn, results: [] })
  }
  const last = whole.at(-1)
  if (last?.kind === 'assistant') whole.push(repliesTo(last, { kind: 'user', text: '', results: [] }))
  return whole
}

/** What was thought before the person spoke last is of no use any more, and of another model perhaps. */
function withoutFormerReasoning(turns: readonly Turn[]): readonly Turn[] {
  const spoken = turns.findLastIndex((turn) => turn.kind === 'user' && turn.results.length === 0)
  return turns.map((turn, at) => {
    if (turn.kind === 'user' || at > spoken) return turn
    const { reasoning: _, ...rest } = turn
    return rest
  })
}

function repliesTo(
  { calls }: Extract<Turn, { kind: 'assistant' }>,
  { text, results }: Extract<Turn, { kind: 'user' }>,
): Turn {
  const known = new Map(results.map((result) => [result.callId, result]))
  const all = calls.map(({ id }) => known.get(id) ?? { callId: id, text: NOT_RUN, isError: true })
  return { kind: 'user', text: text === '' && all.length === 0 ? 'Go on.' : text, results: all }
}

function shortened(turns: readonly Turn[]): readonly Turn[] {
  let length = 0
  let first = turns.length
  for (let at = turns.length - 1; at >= 0; at -= 1) {
    const turn = turns[at] as Turn
    length += JSON.stringify(turn).length
    if (length > MOST_SENT && first < turns.length) break
    // Results without their calls are refused.
    if (turn.kind === 'user' && turn.results.length === 0) first = at
  }
  return turns.slice(Math.min(first, turns.length - 1))
}
