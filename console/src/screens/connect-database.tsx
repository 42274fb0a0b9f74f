/** Attaching a source: how it is reached, what it is granted, which of its tables are imported, and then to their rows. */
import { useQuery } from '../data/queries.ts'
import { formatNumber, t } from '../messages/messages.ts'
import { sourceTexts } from '../messages/sources.ts'
import { Button } from '../ui/button.tsx'
import { DialogActions } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import { Select } from '../ui/select.tsx'
import { Table } from '../ui/table.tsx'
import { Elapsed } from './connect-database/asking.tsx'
import { providerIn } from './connect-database/config.ts'
import { ConfigFields } from './connect-database/config-fields.tsx'
import { Tables } from './connect-database/tables.tsx'
import { type Busy, type LeftOver, steps, useConnecting } from './connect-database/use-connecting.ts'
import styles from './entry.module.css'
import page from './page.module.css'
import type { WayProps } from './set-up/planning.tsx'
import { type Connector, connectorsQuery, type Permission } from './sources/data.ts'
import { Grants } from './sources/grants.tsx'

/** Of who may not read what is installed. */
const usual: readonly (readonly [choice: string, name: string])[] = [
  ['postgres', 'PostgreSQL'],
  ['mysql', 'MySQL'],
  ['mariadb', 'MariaDB'],
  ['neon', 'Neon'],
  ['planetscale', 'PlanetScale'],
]

const none: readonly Connector[] = []

/** What there is to choose from: databases, services that run them, and installed connectors. */
function useProviders(workspace: string) {
  const { data } = useQuery(connectorsQuery(workspace))
  const usable = (data?.data ?? none).filter(({ isAvailable }) => isAvailable)
  const found = usable.flatMap(({ id, name, presets }) => [
    [id, name] as const,
    ...presets.map((preset) => [`${id}/${preset.id}`, preset.name] as const),
  ])
  const hintOf = (choice: string) => {
    const [provider, preset] = choice.split('/')
    return usable.find(({ id }) => id === provider)?.presets.find(({ id }) => id === preset)?.hint
  }
  const isDatabase = (provider: string) => usable.every(({ id, origin }) => id !== provider || origin === 'builtIn')
  return { options: found.length > 0 ? found : usual, hintOf, isDatabase }
}

type ConnectProps = WayProps & {
  /** What is chosen first; a provider. */
  readonly first?: string | undefined
}

export function ConnectDatabase({ workspace, first, onDone, onBack }: ConnectProps) {
  const texts = t.value.connect
  const more = sourceTexts.value
  const { options, hintOf, isDatabase } = useProviders(workspace)
  const connecting = useConnecting({ workspace, first, isDatabase, onDone })
  const { draft, typed, tables, chosen, busy, fault, wrong, notice, required, leftOut, ...on } = connecting
  if (leftOut !== undefined) return <LeftOut {...leftOut} />
  const isFixed = tables !== undefined || busy !== undefined
  const hasTables = tables !== undefined && tables.length > 0
  return (
    <form class={styles.form} onSubmit={on.submit}>
      {fault && <Notice look="danger">{fault}</Notice>}
      {notice && !busy && <Notice {...(notice === more.answers && { look: 'good' })}>{notice}</Notice>}
      {tables?.length === 0 && <Notice look="warning">{texts.noTables}</Notice>}
      {hasTables && !fault && !busy && <Notice look="good">{texts.connected}</Notice>}
      <Select
        label={texts.provider}
        disabled={isFixed}
        value={draft.choice}
        onValue={on.onChoice}
        options={options}
        hint={hintOf(draft.choice)}
      />
      <ConfigFields
        workspace={workspace}
        draft={draft}
        typed={typed}
        isDatabase={isDatabase(providerIn(draft))}
        isDisabled={isFixed}
        wrong={wrong}
        onDraft={on.onDraft}
        onTyped={on.onTyped}
      />
      {required && (
        <PermissionRequest required={required} granted={on.granted} onGrant={on.onGrant} onRefuse={on.onRefuse} />
      )}
      {hasTables && (
        <>
          <Field
            label={texts.name}
            hint={texts.nameText}
            required
            dir="ltr"
            disabled={on.isMade || busy !== undefined}
            {...(wrong?.[0] === 'name' && { error: wrong[1] })}
            value={draft.name}
            onValue={(name) => on.onDraft({ ...draft, name })}
          />
          <Tables tables={tables} chosen={chosen} isDisabled={busy !== undefined} onChoose={on.onChoose} />
        </>
      )}
      {busy && <UnderWay busy={busy} chosen={chosen.size} all={tables?.length ?? 0} onStop={on.stop} />}
      <DialogActions>
        <Button look="plain" disabled={busy !== undefined} onClick={tables && !on.isMade ? on.onOtherSource : onBack}>
          {texts.back}
        </Button>
        {!tables && !required && (
          <Button isBusy={busy === 'testing'} disabled={busy === 'looking'} onClick={on.onTest}>
            {more.test}
          </Button>
        )}
        {!required && (
          <Button
            type="submit"
            look="primary"
            isBusy={busy !== undefined && busy !== 'testing'}
            disabled={busy === 'testing' || (tables && chosen.size === 0)}
          >
            {tables ? texts.attach : texts.connect}
          </Button>
        )}
      </DialogActions>
    </form>
  )
}

type PermissionRequestProps = {
  readonly required: readonly Permission[]
  readonly granted: readonly Permission[]
  readonly onGrant: () => void
  readonly onRefuse: () => void
}

/** The hosts that a connector needs, for somebody to decide. */
function PermissionRequest({ required, granted, onGrant, onRefuse }: PermissionRequestProps) {
  const texts = sourceTexts.value
  return (
    <div class={page.stack}>
      <h2>{granted.length === 0 ? texts.asks : texts.grants}</h2>
      <p class={page.quiet}>{texts.asksText}</p>
      <Grants required={required} granted={granted.length === 0 ? undefined : granted} />
      <div class={page.row}>
        <Button onClick={onRefuse}>{texts.refuse}</Button>
        <Button look="primary" onClick={onGrant}>
          {texts.grantAll}
        </Button>
      </div>
    </div>
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
  const texts = { ...t.value.connect, testing: t.value.connect.looking }
  const at = steps.indexOf(busy)
  const stop = (
    <Button look="plain" onClick={onStop}>
      {texts.stop}
    </Button>
  )
  return (
    <Notice action={stop}>
      {busy === 'importing' ? texts.importing(formatNumber(chosen), formatNumber(all), all) : texts[busy]}{' '}
      <progress aria-label={texts.progress} {...(at > 1 && { value: at, max: steps.length })} /> <Elapsed />
    </Notice>
  )
}

/** What was not imported and why, before the rows of what was. */
function LeftOut({ made, skipped, onGoOn }: LeftOver) {
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
