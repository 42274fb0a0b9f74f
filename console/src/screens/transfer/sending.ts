/**
 * Sends the items of a file, some at a time, each time under a key of its own: what is sent again because an answer was lost is
 * there once. Where the service refuses some, they are sent in halves until it is known which; those fail alone. Of what nobody
 * knows whether it was done, nothing is sent again.
 */
import { ServiceError } from 'governed-data-client'
import { checkSession, session } from '../../data/session.ts'
import { explainFault } from '../../messages/fault.ts'
import { t } from '../../messages/messages.ts'
import { itemsOf } from '../grid/items.ts'
import type { CollectionModel } from '../grid/model.ts'
import type { Row } from '../grid/values.ts'
import { csvLine } from './csv-line.ts'
import { createFile, type Made } from './file.ts'
import { guarded } from './formulas.ts'
import { itemOf, type Plan, type Wrong } from './items-of.ts'
import { type FileRecord, recordsOf, type Source, valueIn } from './records.ts'

/** So many items, or so many characters, are sent at once. */
const MOST_ITEMS = 200
const MOST_TEXT = 1_000_000

/** What the service refuses of an item; all else has nothing to do with it, and is tried again when the person says so. */
const OF_ITEMS = [403, 404, 409, 413, 422]

/** Of the key: it is in use, or its answer is not shown any more. */
const OF_KEY: readonly (string | undefined)[] = ['4091', '4092', '4096']

/** Nobody knows whether it was done; another key could do it twice. */
const OUTCOME_UNKNOWN = '4093'

/** The name of the column of what failed that says why. */
const WHY = 'import_error'

export type Sent = {
  readonly made: number
  readonly failed: number
  readonly listed: readonly Wrong[]
  /** Whether the file could be read only so far; all that was read before is sent. */
  readonly isCutOff: boolean
}

const MOST_LISTED = 100

type SendingProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly source: Source
  readonly plan: Plan
  readonly onSent: (sent: Sent) => void
}

type Line = { readonly record: FileRecord; readonly item: Row }

export type Sending = ReturnType<typeof createSending>

export function createSending({ workspace, model, source, plan, onSent }: SendingProps) {
  const id = crypto.randomUUID()
  const records = recordsOf(source)
  const failures = failuresOf(source, model)
  const listed: Wrong[] = []
  let [made, failed] = [0, 0]
  let isStopped = false
  let isRead = false
  let isCutOff = false
  /** What is next, in its order; a group keeps its key until it is known what became of it. */
  let waiting: { readonly key: string; readonly lines: readonly Line[] }[] = []
  let groups = 0
  const group = (lines: readonly Line[]) => {
    groups += 1
    return { key: `${id}-${groups}`, lines }
  }

  /** Whether it is not known what became of the first of these. */
  let isOpen = false

  const fail = (record: FileRecord, field: string, why: string) => {
    failed += 1
    if (listed.length < MOST_LISTED) listed.push({ line: record.line, number: record.number, field, why })
    failures.add(record, field === '' ? why : `${field}: ${why}`)
  }

  /** A file that was changed or moved since it was chosen ends here. */
  async function nextRecord(): Promise<FileRecord | undefined> {
    try {
      return (await records.next()).value
    } catch {
      isCutOff = true
      return undefined
    }
  }

  /** Reads as many lines as are sent at once. */
  async function read(): Promise<void> {
    const lines: Line[] = []
    let text = 0
    while (lines.length < MOST_ITEMS && text < MOST_TEXT) {
      const record = await nextRecord()
      if (record === undefined) {
        isRead = true
        break
      }
      const one = itemOf(record, plan)
      if ('wrong' in one) fail(record, one.wrong.field, one.wrong.why)
      else {
        lines.push({ record, item: one.item })
        text += JSON.stringify(one.item).length
      }
    }
    if (lines.length > 0) waiting = [group(lines)]
  }

  async function send(): Promise<void> {
    const [next, ...others] = waiting
    if (next === undefined) return
    const { key, lines } = next
    const options = { idempotencyKey: key, ...(model.key.length > 0 && { fields: model.key }) }
    try {
      await itemsOf(workspace, model)
        .create(
          lines.map(({ item }) => item),
          options,
        )
        .orThrow()
      made += lines.length
      waiting = others
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      isOpen = error.status === 0 || error.status >= 500 || OF_KEY.includes(error.code)
      if (error.code === OUTCOME_UNKNOWN) {
        for (const { record } of lines) fail(record, '', t.value.many.outcomeUnknown)
        waiting = others
        return
      }
      if (OF_KEY.includes(error.code) || !OF_ITEMS.includes(error.status)) throw error
      if (error.status === 403 && (await isSessionLost())) throw error
      const parts = partsOf(lines, error)
      if (parts === undefined) fail((lines[0] as Line).record, '', explainFault(error))
      waiting = [...(parts ?? []).filter((part) => part.length > 0).map(group), ...others]
    }
  }

  return {
    /** Until all is sent or it is stopped; throws what has nothing to do with what was sent, and goes on when it is called again. */
    async run(): Promise<void> {
      isStopped = false
      while (!isStopped) {
        if (waiting.length === 0) {
          if (isRead) return
          await read()
        }
        await send()
        onSent({ made, failed, listed, isCutOff })
      }
    },
    /** What is under way is waited for. */
    stop: (): void => {
      isStopped = true
    },
    /** After a fault: records under way are not sent again, and are listed as failed. */
    giveUp: (): void => {
      const [next] = waiting
      if (!isOpen || next === undefined) return
      waiting = []
      for (const { record } of next.lines) fail(record, '', t.value.many.outcomeUnknown)
      onSent({ made, failed, listed, isCutOff })
    },
    /** What failed, as it stands in the file, with the reasons. */
    failures: (): Made => failures.end(),
  }
}

/** Who is not signed in any more is refused as anybody is, which says nothing of the items. */
async function isSessionLost(): Promise<boolean> {
  await checkSession()
  return session.value.kind !== 'signedIn' || session.value.isLost
}

/** The lines before and behind the one that the service names, and that by itself; else halves. Undefined for a single one. */
function partsOf(lines: readonly Line[], { message }: ServiceError): readonly (readonly Line[])[] | undefined {
  if (lines.length === 1) return undefined
  const at = Number(/\bdata\[(\d+)\]/.exec(message)?.[1] ?? Number.NaN)
  if (!(at < lines.length)) {
    const half = Math.ceil(lines.length / 2)
    return [lines.slice(0, half), lines.slice(half)]
  }
  return [lines.slice(0, at), lines.slice(at, at + 1), lines.slice(at + 1)]
}

function failuresOf({ kind, names }: Source, model: CollectionModel) {
  const file = createFile(`${model.name}-failed.${kind}`, kind === 'csv' ? 'text/csv' : 'application/json')
  const shown = names.filter((name) => name !== WHY)
  let count = 0
  if (kind === 'csv') file.add(csvLine([...shown, WHY]))
  return {
    add({ values }: FileRecord, why: string): void {
      const cells = shown.map((name) => (valueIn(values, name) ?? undefined) as string | undefined)
      const text = () => JSON.stringify({ ...values, [WHY]: why })
      file.add(kind === 'csv' ? csvLine([...cells, guarded(why)]) : `${count === 0 ? '[' : ','}\n${text()}`)
      count += 1
    },
    end(): Made {
      if (kind === 'json') file.add(count === 0 ? '[]\n' : '\n]\n')
      return file.end()
    },
  }
}
