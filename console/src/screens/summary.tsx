/** The rows of a collection in groups, with what is calculated of each. */
import { useId, useRef } from 'preact/hooks'
import { CodeButton } from '../app/code.tsx'
import { clientOf } from '../data/client.ts'
import { useQuery } from '../data/queries.ts'
import { formatNumber } from '../messages/messages.ts'
import { summaryTexts } from '../messages/summary.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Fault, Notice, Skeleton } from '../ui/notice.tsx'
import { Choice } from '../ui/select.tsx'
import { Table } from '../ui/table.tsx'
import { PlainValue } from './grid/cell-content.tsx'
import { labelOf } from './grid/columns.ts'
import styles from './grid/grid.module.css'
import type { LayoutProps } from './grid/layouts.ts'
import type { CollectionModel } from './grid/model.ts'
import { isNumber, readableOf } from './grid/readable.ts'
import page from './page.module.css'
import { type Called, functions, unitsOf, unitText } from './summary/functions.ts'
import {
  type Group,
  type GroupRow,
  groupColumns,
  type Measure,
  measurable,
  nameIn,
  nameOf,
  type Part,
  partsIn,
  partsText,
  summaryQuery,
  valueIn,
} from './summary/parts.ts'
import look from './summary/summary.module.css'

/** More are read by nobody. */
const MOST = 1_000

/** An answer, and what it is of. */
type Summarised = { readonly parts: readonly Part[]; readonly groups: readonly GroupRow[] }

export default function Summary({ workspace, model, view, rows, layout, onView }: LayoutProps) {
  const texts = summaryTexts.value
  const parts = partsIn(layout.field, model)
  const query = summaryQuery(parts, view.filter)
  const path = `aggregates/${encodeURIComponent(model.name)}`
  const { data, error, refetch } = useQuery<Summarised>({
    queryKey: ['summary', workspace, path, query, rows.turn.value],
    staleTime: 0,
    queryFn: async () => {
      const options = { query: { ...query, limit: MOST + 1 } }
      const answer = clientOf(workspace).$request<{ readonly data: readonly GroupRow[] }>('GET', path, options)
      return { parts, groups: (await answer.orThrow()).data }
    },
  })
  // What is shown stays until the next answer is there, and the focus within it.
  const last = useRef<Summarised | undefined>(undefined)
  if (data !== undefined) last.current = data
  const shown = error && !data ? undefined : last.current
  const go = (next: readonly Part[]) => onView({ ...view, layout: { ...layout, field: partsText(next) } })
  const count = Math.min(shown?.groups.length ?? 0, MOST)
  return (
    <div class={look.page}>
      <Settings model={model} parts={parts} onParts={go} />
      <div class={page.row}>
        <CodeButton request={() => ({ workspace, collection: model.name, method: 'GET', isAggregate: true, query })} />
        <p class={page.quiet} role="status">
          {shown?.parts.some(({ kind }) => kind === 'group') && texts.count(formatNumber(count), count)}
        </p>
      </div>
      {error && !shown && <Fault error={error} onRetry={() => void refetch()} />}
      {!error && !shown && <Skeleton lines={6} />}
      {shown && shown.groups.length > MOST && <Notice look="warning">{texts.tooMany(formatNumber(MOST))}</Notice>}
      {shown && (
        <Table
          label={texts.title(model.title)}
          rows={shown.groups.slice(0, MOST)}
          keyOf={({ group }) => JSON.stringify(group)}
          columns={shown.parts.map((part) => ({
            title: titleOf(part),
            isNumber: isNumeric(part),
            sorted: part.direction,
            onSort: () =>
              go(
                parts.map((one) => ({
                  ...one,
                  direction: nameIn(one) === nameIn(part) ? next[one.direction ?? 'no'] : undefined,
                })),
              ),
            cell: (row: GroupRow) => <Value part={part} value={valueIn(part, row)} />,
          }))}
        />
      )}
    </div>
  )
}

const next = { no: 'asc', asc: 'desc', desc: undefined } as const

function titleOf(part: Part): string {
  const texts = summaryTexts.value
  if (part.kind === 'measure') return part.of === '*' ? texts.rows : texts.of[part.called](part.of.title)
  if (part.unit === undefined) return labelOf(part.of)
  // Days of instants begin and end with those of Greenwich, for whoever reads them.
  const isInstant = part.of.field.type === 'dateTimeWithTimezone'
  return texts.inUnit(labelOf(part.of), isInstant ? texts.utc(texts.units[part.unit]) : texts.units[part.unit])
}

function isNumeric(part: Part): boolean {
  if (part.kind === 'group') return part.unit === undefined && isNumber(part.of.field)
  return part.of === '*' || !part.called.startsWith('m') || isNumber(part.of)
}

function Value({ part, value }: { readonly part: Part; readonly value: unknown }) {
  if (value === null || value === undefined || value === '') return <PlainValue value={value} />
  if (part.kind === 'group') return <>{part.unit ? unitText(part.unit, value) : readableOf(part.of.field, value)}</>
  if (part.called === 'avg') return <>{formatNumber(Number(value), { maximumSignificantDigits: 12 })}</>
  if (part.of === '*' || part.called.startsWith('count')) return <>{formatNumber(Number(value))}</>
  return <>{readableOf(part.of, value)}</>
}

type SettingsProps = {
  readonly model: CollectionModel
  readonly parts: readonly Part[]
  readonly onParts: (parts: readonly Part[]) => void
}

function Settings({ model, parts, onParts }: SettingsProps) {
  const texts = summaryTexts.value
  const change = (at: number, to: Part) => onParts(parts.with(at, to))
  const free = groupColumns(model).find(
    (column) => !parts.some((part) => part.kind === 'group' && part.of.id === column.id),
  )
  const fresh = functions
    .flatMap((called) => measurable(model, called).map((of): Measure => ({ kind: 'measure', called, of })))
    .find((one) => !parts.some((part) => titleOf(part) === titleOf(one)))
  const groups = parts.filter(({ kind }) => kind === 'group').length
  return (
    <form class={styles.filter} aria-label={texts.settings} onSubmit={(event) => event.preventDefault()}>
      {parts.map((part, at) => (
        <fieldset key={at} class={look.part} aria-label={titleOf(part)}>
          {part.kind === 'group' ? (
            <GroupChoice model={model} group={part} onGroup={(to) => change(at, to)} />
          ) : (
            <MeasureChoice model={model} measure={part} onMeasure={(to) => change(at, to)} />
          )}
          <Button
            look="plain"
            isIcon
            aria-label={texts.remove(titleOf(part))}
            disabled={parts.length === 1}
            onClick={() => onParts(parts.toSpliced(at, 1))}
          >
            <Icon name="close" />
          </Button>
        </fieldset>
      ))}
      <div class={page.row}>
        {free && groups < 8 && (
          <Button look="plain" onClick={() => onParts(parts.toSpliced(groups, 0, { kind: 'group', of: free }))}>
            <Icon name="add" />
            {texts.addGroup}
          </Button>
        )}
        {fresh && parts.length - groups < 20 && (
          <Button look="plain" onClick={() => onParts([...parts, fresh])}>
            <Icon name="add" />
            {texts.addMeasure}
          </Button>
        )}
      </div>
    </form>
  )
}

type GroupChoiceProps = {
  readonly model: CollectionModel
  readonly group: Group
  readonly onGroup: (group: Group) => void
}

function GroupChoice({ model, group, onGroup }: GroupChoiceProps) {
  const texts = summaryTexts.value
  const id = useId()
  const columns = groupColumns(model)
  const offered = unitsOf(group.of.field)
  const to = (id: string, unit: string) => {
    const of = columns.find((column) => column.id === id) ?? group.of
    onGroup({ kind: 'group', of, unit: unitsOf(of.field).find((one) => one === unit), direction: group.direction })
  }
  return (
    <>
      <label for={id}>{texts.groupBy}</label>
      <Choice
        id={id}
        class={styles.operand}
        value={group.of.id}
        options={columns.map((column) => [column.id, labelOf(column)])}
        onValue={(id) => to(id, '')}
      />
      {offered.length > 0 && (
        <Choice
          class={styles.operand}
          aria-label={texts.unit}
          value={group.unit ?? ''}
          options={[['', texts.whole], ...offered.map((unit) => [unit, texts.units[unit]] as const)]}
          onValue={(unit) => to(group.of.id, unit)}
        />
      )}
    </>
  )
}

type MeasureChoiceProps = {
  readonly model: CollectionModel
  readonly measure: Measure
  readonly onMeasure: (measure: Measure) => void
}

function MeasureChoice({ model, measure, onMeasure }: MeasureChoiceProps) {
  const texts = summaryTexts.value
  const to = (called: Called, name: string) => {
    const all = measurable(model, called)
    const of = all.find((one) => nameOf(one) === name) ?? all[0]
    if (of !== undefined) onMeasure({ kind: 'measure', called, of, direction: measure.direction })
  }
  return (
    <>
      <Choice
        class={styles.operand}
        aria-label={texts.function}
        value={measure.called}
        options={functions
          .filter((called) => measurable(model, called).length > 0)
          .map((called) => [called, texts.functions[called]])}
        onValue={(called) => to(called, nameOf(measure.of))}
      />
      <Choice
        class={styles.operand}
        aria-label={texts.field}
        value={nameOf(measure.of)}
        options={measurable(model, measure.called).map((of) => [nameOf(of), of === '*' ? texts.rows : of.title])}
        onValue={(name) => to(measure.called, name)}
      />
    </>
  )
}
