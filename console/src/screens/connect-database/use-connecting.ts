/** The two steps of attaching a source, what is typed and chosen for them, and what came of them. */
import type { ServiceError } from 'governed-data-client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { queries, useQuery } from '../../data/queries.ts'
import { unsavedAt } from '../../data/unsaved.ts'
import { accessQuery, readCollections } from '../../data/workspaces.ts'
import { explainFault } from '../../messages/fault.ts'
import { compareNames, formatNumber, t } from '../../messages/messages.ts'
import { sourceTexts } from '../../messages/sources.ts'
import { showToast } from '../../ui/toasts.tsx'
import type { WayProps } from '../set-up/planning.tsx'
import { MISMATCH, NOT_CHOSEN, type Permission, requiredIn, type Skipped, sourcesQuery } from '../sources/data.ts'
import { useAsking } from './asking.tsx'
import {
  choiceFor,
  configOf,
  type Draft,
  emptyDraft,
  freeName,
  nothingTyped,
  type Place,
  providerIn,
  type Typed,
  wrongIn,
} from './config.ts'
import type { FoundTable } from './tables.tsx'

type Looked = {
  readonly data: {
    readonly schema: {
      readonly collections: readonly {
        readonly name: string
        readonly namespace?: string
        readonly fields: readonly object[]
      }[]
    }
  }
}
type Created = { readonly data: { readonly id: string } }
type Imported = {
  readonly data: { readonly operations: readonly { readonly kind: string }[]; readonly skipped: readonly Skipped[] }
}
/** The steps of each, in their order. */
export const steps = ['testing', 'looking', 'keeping', 'importing', 'opening'] as const
export type Busy = (typeof steps)[number]

/** What was imported, where some of it was left out. */
export type LeftOver = {
  /** How many collections were made. */
  readonly made: number
  readonly skipped: readonly Skipped[]
  readonly onGoOn: () => void
}

type Connecting = Pick<WayProps, 'workspace' | 'onDone'> & {
  /** A provider that is chosen first. */
  readonly first: string | undefined
  readonly isDatabase: (provider: string) => boolean
}

/** What is typed and chosen, and the two steps: looking what there is, then importing of it. */
export function useConnecting({ workspace, first, isDatabase, onDone }: Connecting) {
  const kept = unsavedAt<Partial<Draft>>(['source', workspace], {})
  const [typed, setTyped] = useState<Typed>(nothingTyped)
  const [tables, setTables] = useState<readonly FoundTable[]>()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [sourceId, setSourceId] = useState<string>()
  const [granted, setGranted] = useState<readonly Permission[]>([])
  const [busy, setBusy] = useState<Busy>()
  const [isTried, setTried] = useState(false)
  const [notice, setNotice] = useState<string>()
  const [leftOut, setLeftOut] = useState<LeftOver>()
  const { ask, error, setError, stop } = useAsking(workspace)
  const onChoice = (choice: string) => {
    kept.value = { ...kept.value, choice }
    setGranted([])
    setError(undefined)
  }
  useEffect(() => {
    if (first !== undefined) onChoice(first)
  }, [first])
  const { data: access } = useQuery(accessQuery(workspace))
  const maySee = access?.entitlements.includes('dataSource:read') === true
  const { data: sources = [] } = useQuery({ ...sourcesQuery(workspace), enabled: maySee })
  const proposed = freeName(sources.map(({ apiName }) => apiName))
  const chosenDraft = { ...emptyDraft, name: proposed, ...kept.value }
  // Connectors have configurations of their own, which are JSON.
  const draft: Draft = isDatabase(providerIn(chosenDraft)) ? chosenDraft : { ...chosenDraft, given: 'json' }
  const config = configOf(draft, typed)
  const sourceWith = (permissions: readonly Permission[]) => ({ provider: providerIn(draft), config, permissions })

  const look = async (permissions: readonly Permission[]) => {
    const looked = await ask<Looked>('sources/data/introspect', sourceWith(permissions))
    const found = looked?.data.data.schema.collections.map(({ name: table, namespace, fields }) => {
      return { name: namespace ? `${namespace}.${table}` : table, columns: fields.length }
    })
    setTables(found)
    setChosen(new Set(found?.map(({ name: table }) => table)))
  }
  const test = async (permissions: readonly Permission[]) => {
    if (await ask('sources/data/test', sourceWith(permissions))) setNotice(sourceTexts.value.answers)
  }
  const attach = async (all: readonly FoundTable[], permissions: readonly Permission[]) => {
    // A second try goes on with the source of the first.
    const made = { apiName: draft.name.trim(), ...sourceWith(permissions) }
    const id = sourceId ?? (await ask<Created>('sources/data', made))?.data.data.id
    if (id === undefined) return
    setSourceId(id)
    kept.value = { ...kept.value, name: made.apiName }
    void queries.invalidateQueries({ queryKey: sourcesQuery(workspace).queryKey as readonly string[] })
    const before = await namesIn(workspace)
    const body = chosen.size === all.length ? {} : { tables: { include: [...chosen] } }
    setBusy('importing')
    const imported = await ask<Imported>(`schema/introspect/${id}`, body)
    if (imported === undefined) return
    setBusy('opening')
    kept.value = {}
    const now = await namesIn(workspace)
    const onGoOn = () => onDone(now.find((one) => !before.includes(one)) ?? now[0])
    const count = imported.data.data.operations.filter(({ kind }) => kind === 'createCollection').length
    const skipped = imported.data.data.skipped.filter(({ reason }) => reason !== NOT_CHOSEN)
    if (skipped.length > 0) return setLeftOut({ made: count, skipped, onGoOn })
    showToast(t.value.connect.made(formatNumber(count), count))
    onGoOn()
  }
  /** What was asked last, to be asked again with what is granted. */
  const last = useRef<'test' | 'go'>('go')
  const run = async (what: 'test' | 'go', permissions: readonly Permission[]) => {
    if (busy !== undefined) return
    last.current = what
    setError(undefined)
    setNotice(undefined)
    setTried(true)
    if (config === undefined) return
    setBusy(what === 'test' ? 'testing' : tables ? 'keeping' : 'looking')
    await (what === 'test' ? test(permissions) : tables ? attach(tables, permissions) : look(permissions))
    setBusy(undefined)
  }
  const required = error?.code === MISMATCH ? requiredIn(error.meta) : undefined
  const noTest = error?.code === NO_TEST
  const wrong: readonly [Place, string] | undefined =
    config === undefined && isTried ? ['json', sourceTexts.value.noObject] : error && wrongIn(error, draft.given)
  const isExplained = error === undefined || required !== undefined || noTest || wrong !== undefined
  return {
    draft,
    typed,
    isMade: sourceId !== undefined,
    onChoice,
    onDraft: ({ name, ...next }: Draft) => {
      setNotice(undefined)
      const given = isDatabase(providerIn({ ...next, name })) ? next.given : chosenDraft.given
      kept.value = { ...next, given, ...(name !== proposed && { name }) }
    },
    onTyped: (next: Typed) => {
      setTyped(next)
      setTried(false)
      setNotice(undefined)
      const choice = choiceFor(next.connectionString, draft.choice)
      if (choice !== draft.choice) kept.value = { ...kept.value, choice }
    },
    tables,
    chosen,
    onChoose: setChosen,
    onOtherSource: () => setTables(undefined),
    busy,
    fault: isExplained ? undefined : faultOf(error),
    wrong,
    notice: noTest ? sourceTexts.value.noTest : notice,
    required,
    granted,
    onGrant: () => {
      setGranted(required ?? [])
      void run(last.current, required ?? [])
    },
    onRefuse: () => {
      setError(undefined)
      setNotice(sourceTexts.value.refused)
    },
    leftOut,
    submit: (event: Event) => {
      event.preventDefault()
      void run('go', granted)
    },
    onTest: (event: Event) => {
      const form = (event.currentTarget as HTMLButtonElement).form
      if (form?.reportValidity() !== false) void run('test', granted)
    },
    stop,
  }
}

/** Of a database that does not answer the service knows no more than that. */
function faultOf(error: ServiceError): string {
  const isAway = error.messages.includes('Failed to connect to the database')
  return isAway ? sourceTexts.value.away : explainFault(error)
}

/** The connector has none. */
const NO_TEST = '7002'

async function namesIn(workspace: string): Promise<readonly string[]> {
  const all = await readCollections(workspace)
  return all.flatMap((one) => (one.isSystem ? [] : one.name)).sort(compareNames)
}
