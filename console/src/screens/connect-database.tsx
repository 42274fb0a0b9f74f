/** Attaching a database: how it is reached, which of its tables are imported, and then to their rows. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { clientOf } from '../data/client.ts'
import { useQuery } from '../data/queries.ts'
import { readCollections } from '../data/workspaces.ts'
import { explainFault } from '../messages/fault.ts'
import { compareNames, formatNumber, formatSeconds, t } from '../messages/messages.ts'
import { Button } from '../ui/button.tsx'
import { DialogActions } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import { Select } from '../ui/select.tsx'
import { Table } from '../ui/table.tsx'
import { showToast } from '../ui/toasts.tsx'
import { type FoundTable, Tables } from './connect-database/tables.tsx'
import styles from './entry.module.css'
import page from './page.module.css'
import type { WayProps } from './set-up/planning.tsx'

type Connector = {
  readonly id: string
  readonly name: string
  readonly origin: string
  readonly isAvailable: boolean
  readonly presets: readonly { readonly id: string; readonly name: string; readonly hint?: string }[]
}

/** Of who may not read what is installed. */
const usual: Options = [
  ['postgres', 'PostgreSQL'],
  ['mysql', 'MySQL'],
  ['mariadb', 'MariaDB'],
  ['neon', 'Neon'],
  ['planetscale', 'PlanetScale'],
]

type Options = readonly (readonly [choice: string, name: string])[]

/** What there is to choose from: databases, and services that run them. A choice is `provider` or `provider/preset`. */
function useProviders(workspace: string) {
  const { data = [] } = useQuery<readonly Connector[]>({
    queryKey: ['connectors', workspace],
    queryFn: async () => {
      const answer = await clientOf(workspace).$request<{ readonly data: readonly Connector[] }>(
        'GET',
        'connectors/data',
      )
      return answer.orThrow().data
    },
  })
  const usable = data.filter(({ origin, isAvailable }) => origin === 'builtIn' && isAvailable)
  const found = usable.flatMap(({ id, name, presets }) => [
    [id, name] as const,
    ...presets.map((preset) => [`${id}/${preset.id}`, preset.name] as const),
  ])
  const hintOf = (choice: string) => {
    const [provider, preset] = choice.split('/')
    return usable.find(({ id }) => id === provider)?.presets.find(({ id }) => id === preset)?.hint
  }
  return { options: found.length > 0 ? found : usual, hintOf }
}

/** Those that a connection string of this beginning can be meant for. */
const bySchemes: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^postgres(ql)?:/, ['postgres', 'neon']],
  [/^mysql:/, ['mysql', 'mariadb', 'planetscale']],
  [/^mariadb:/, ['mariadb', 'mysql']],
]

type Looked = {
  readonly data: {
    readonly schema: {
      readonly collections: readonly {
        readonly name: string
        readonly namespace: string
        readonly fields: readonly object[]
      }[]
    }
  }
}
type Created = { readonly data: { readonly id: string } }
type Imported = {
  readonly data: { readonly operations: readonly { readonly kind: string }[]; readonly skipped: readonly Skipped[] }
}
/** The reason of those that somebody left out themselves. */
const NOT_CHOSEN = 'is not included'

type Skipped = { readonly table: string; readonly reason: string }

/** The steps of each, in their order. */
const steps = ['looking', 'keeping', 'importing', 'opening'] as const
type Busy = (typeof steps)[number]

const LONG = 600_000

export function ConnectDatabase({ workspace, onDone, onBack }: WayProps) {
  const texts = t.value.connect
  const { source, tables, chosen, busy, fault, leftOut, ...on } = useConnecting(workspace, onDone)
  const { options, hintOf } = useProviders(workspace)
  if (leftOut !== undefined) return <LeftOut {...leftOut} />
  const isFixed = tables !== undefined || busy !== undefined
  const hasTables = tables !== undefined && tables.length > 0
  return (
    <form class={styles.form} onSubmit={on.submit}>
      {fault && <Notice look="danger">{fault}</Notice>}
      {tables?.length === 0 && <Notice look="warning">{texts.noTables}</Notice>}
      {hasTables && !fault && !busy && <Notice look="good">{texts.connected}</Notice>}
      <Field
        label={texts.connectionString}
        hint={texts.connectionStringText}
        required
        autofocus
        dir="ltr"
        type="password"
        canShow
        autocomplete="off"
        spellcheck={false}
        disabled={isFixed}
        value={source.connectionString}
        onValue={on.onConnectionString}
      />
      <Select
        label={texts.provider}
        disabled={isFixed}
        value={source.provider}
        onValue={on.onProvider}
        options={options}
        hint={hintOf(source.provider)}
      />
      {hasTables && (
        <>
          <Field
            label={texts.name}
            hint={texts.nameText}
            required
            dir="ltr"
            disabled={source.isMade || busy !== undefined}
            value={source.name}
            onValue={on.onName}
          />
          <Tables tables={tables} chosen={chosen} isDisabled={busy !== undefined} onChoose={on.onChoose} />
        </>
      )}
      {busy && <UnderWay busy={busy} chosen={chosen.size} all={tables?.length ?? 0} onStop={on.stop} />}
      <DialogActions>
        <Button look="plain" onClick={tables && !source.isMade ? on.onOtherSource : onBack}>
          {texts.back}
        </Button>
        <Button type="submit" look="primary" isBusy={busy !== undefined} disabled={tables && chosen.size === 0}>
          {tables ? texts.attach : texts.connect}
        </Button>
      </DialogActions>
    </form>
  )
}

type UnderWayProps = {
  readonly busy: Busy
  /** How many tables are imported, of how many that there are. */
  readonly chosen: number
  readonly all: number
  readonly onStop: () => void
}

/** The import is one request, which is done or not: what is known meanwhile are its size and how long it has taken so far. */
function UnderWay({ busy, chosen, all, onStop }: UnderWayProps) {
  const texts = t.value.connect
  const stop = (
    <Button look="plain" onClick={onStop}>
      {texts.stop}
    </Button>
  )
  return (
    <Notice action={stop}>
      {busy === 'importing' ? texts.importing(formatNumber(chosen), formatNumber(all), all) : texts[busy]}{' '}
      <progress
        aria-label={texts.progress}
        {...(busy !== 'looking' && { value: steps.indexOf(busy), max: steps.length })}
      />{' '}
      <Elapsed />
    </Notice>
  )
}

/** Not read aloud each second. */
function Elapsed() {
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    const start = Date.now()
    const timer = setInterval(() => setSeconds(Math.floor((Date.now() - start) / 1_000)), 1_000)
    return () => clearInterval(timer)
  }, [])
  return (
    <span class={page.quiet} role="timer">
      {formatSeconds(seconds)}
    </span>
  )
}

type LeftOutProps = {
  /** How many collections were made. */
  readonly made: number
  readonly skipped: readonly Skipped[]
  readonly onGoOn: () => void
}

/** What was not imported and why, before the rows of what was. */
function LeftOut({ made, skipped, onGoOn }: LeftOutProps) {
  const texts = t.value.connect
  return (
    <div class={styles.form}>
      <Notice look="warning">
        {texts.made(formatNumber(made), made)} {texts.leftOut(formatNumber(skipped.length), skipped.length)}
      </Notice>
      <Table
        wraps
        label={texts.leftOutTitle}
        rows={skipped}
        keyOf={({ table, reason }) => `${table} ${reason}`}
        columns={[
          { title: texts.table, cell: ({ table }) => <bdi>{table}</bdi> },
          { title: t.value.many.why, cell: ({ reason }) => reason },
        ]}
      />
      <DialogActions>
        <Button look="primary" onClick={onGoOn}>
          {texts.toRows}
        </Button>
      </DialogActions>
    </div>
  )
}

/** What is typed and chosen, and the two steps: looking what there is, then importing of it. */
function useConnecting(workspace: string, onDone: WayProps['onDone']) {
  const [choice, setChoice] = useState<string>('postgres')
  const [provider = ''] = choice.split('/')
  const [name, setName] = useState('main')
  const [connectionString, setConnectionString] = useState('')
  const [tables, setTables] = useState<readonly FoundTable[]>()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [sourceId, setSourceId] = useState<string>()
  const [busy, setBusy] = useState<Busy>()
  const [leftOut, setLeftOut] = useState<LeftOutProps>()
  const { ask, fault, setFault, stop } = useAsking(workspace)
  const source = { provider, config: { connectionString: connectionString.trim() } }

  const look = async () => {
    const looked = await ask<Looked>('sources/data/introspect', source)
    const found = looked?.data.schema.collections.map(({ name: table, namespace, fields }) => {
      return { name: namespace === '' ? table : `${namespace}.${table}`, columns: fields.length }
    })
    setTables(found)
    setChosen(new Set(found?.map(({ name: table }) => table)))
  }
  const attach = async (all: readonly FoundTable[]) => {
    // A second try goes on with the source of the first.
    const id = sourceId ?? (await ask<Created>('sources/data', { apiName: name.trim(), ...source }))?.data.id
    if (id === undefined) return
    setSourceId(id)
    const before = await namesIn(workspace)
    const body = chosen.size === all.length ? {} : { tables: { include: [...chosen] } }
    setBusy('importing')
    const imported = await ask<Imported>(`schema/introspect/${id}`, body)
    if (imported === undefined) return
    setBusy('opening')
    const now = await namesIn(workspace)
    const onGoOn = () => onDone(now.find((one) => !before.includes(one)) ?? now[0])
    const made = imported.data.operations.filter(({ kind }) => kind === 'createCollection').length
    const skipped = imported.data.skipped.filter(({ reason }) => reason !== NOT_CHOSEN)
    if (skipped.length > 0) return setLeftOut({ made, skipped, onGoOn })
    showToast(t.value.connect.made(formatNumber(made), made))
    onGoOn()
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    if (busy !== undefined) return
    setFault(undefined)
    setBusy(tables ? 'keeping' : 'looking')
    await (tables ? attach(tables) : look())
    setBusy(undefined)
  }
  return {
    source: { provider: choice, name, connectionString, isMade: sourceId !== undefined },
    onProvider: setChoice,
    onName: setName,
    onConnectionString: (value: string) => {
      setConnectionString(value)
      if (providerOf(value, provider) !== provider) setChoice(providerOf(value, provider))
    },
    tables,
    chosen,
    onChoose: setChosen,
    onOtherSource: () => setTables(undefined),
    busy,
    fault,
    leftOut,
    submit,
    stop,
  }
}

async function namesIn(workspace: string): Promise<readonly string[]> {
  const all = await readCollections(workspace)
  return all.flatMap((one) => (one.isSystem ? [] : one.name)).sort(compareNames)
}

/** Requests that take long: they can be ended, and what went wrong is told. */
function useAsking(workspace: string) {
  const [fault, setFault] = useState<string>()
  const ending = useRef<AbortController>(undefined)
  /** What it answers is undefined where it failed, or was ended. */
  const ask = async <T,>(path: string, body: object): Promise<T | undefined> => {
    const end = new AbortController()
    ending.current = end
    const asked = { body, timeout: LONG, signal: end.signal }
    const answer = await clientOf(workspace).$request<T>('POST', path, asked)
    if (answer.ok) return answer.data
    if (!end.signal.aborted) setFault(explainFault(answer.error))
    return undefined
  }
  return { ask, fault, setFault, stop: () => ending.current?.abort() }
}

/** That of a connection string: the one that was chosen, where it fits. */
function providerOf(connectionString: string, chosen: string): string {
  const fitting = bySchemes.find(([scheme]) => scheme.test(connectionString.trim()))?.[1]
  return fitting === undefined || fitting.includes(chosen) ? chosen : (fitting[0] ?? chosen)
}
