/** Which column of a file becomes which field, the first lines of it as they are, and what of it does not fit. */
import { useEffect, useState } from 'preact/hooks'
import { formatNumber, t } from '../../messages/messages.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import { FormActions } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Select } from '../../ui/select.tsx'
import { Table } from '../../ui/table.tsx'
import { PlainValue } from '../grid/cell-content.tsx'
import type { CollectionModel, FieldModel } from '../grid/model.ts'
import page from '../page.module.css'
import { type Checked, checkSource, type Plan } from './items-of.ts'
import { planOf } from './plan.ts'
import { type Source, valueIn } from './records.ts'
import styles from './transfer.module.css'
import { explainFile, placeColumn, Wrongs } from './wrongs.tsx'

type PlanFormProps = {
  readonly model: CollectionModel
  readonly source: Source
  /** `all`: how many lines there are. */
  readonly onStart: (plan: Plan, all: number) => void
  readonly onClose: () => void
}

export function PlanForm({ model, source, onStart, onClose }: PlanFormProps) {
  const texts = t.value.many
  const offered = model.fields.filter(({ mayCreate }) => mayCreate)
  const [plan, setPlan] = useState<Plan>(() => ({
    kind: source.kind,
    fields: planOf(source.names, offered),
    isSafe: source.kind === 'csv',
  }))
  const { checked, unreadable } = useChecked(source, plan)
  const faults = faultsOf(plan, offered)
  const choose = (name: string, wanted: string) => {
    const field = offered.find((one) => one.name === wanted)
    const others = [...plan.fields].filter(([column]) => column !== name)
    const chosen = new Map(field ? [...others, [name, field]] : others)
    // In the order of the file, as the preview has it.
    const fields = new Map(source.names.flatMap((column) => [[column, chosen.get(column)] as const]).filter(isChosen))
    setPlan({ ...plan, fields })
  }
  const fits = faults.length === 0 ? (checked?.fits ?? 0) : 0
  return (
    <form
      class={page.stack}
      onSubmit={(event) => {
        event.preventDefault()
        if (fits > 0 && checked) onStart(plan, checked.fits + checked.wrongs)
      }}
    >
      <fieldset class={styles.plan} aria-label={texts.columnsOfFile}>
        {source.names.map((name) => (
          <Select
            key={name}
            label={texts.fieldFor(name)}
            value={plan.fields.get(name)?.name ?? ''}
            onValue={(wanted) => choose(name, wanted)}
            options={[['', texts.leaveOut], ...offered.map((field) => [field.name, field.title] as const)]}
          />
        ))}
      </fieldset>
      {checked?.hasGuarded && (
        <Checkbox
          label={texts.takeGuards}
          hint={texts.takeGuardsHint}
          isChecked={plan.isSafe}
          onCheck={(isSafe) => setPlan({ ...plan, isSafe })}
        />
      )}
      {unreadable && <Notice look="danger">{unreadable}</Notice>}
      {faults.map((fault) => (
        <Notice key={fault} look="warning">
          {fault}
        </Notice>
      ))}
      {!checked && !unreadable && <p role="status">{texts.checking}</p>}
      {checked && checked.late.length > 0 && <Notice look="warning">{texts.late(checked.late)}</Notice>}
      {checked && <Preview source={source} plan={plan} checked={checked} />}
      <FormActions label={texts.importRows(formatNumber(fits), fits)} isDisabled={fits === 0} onCancel={onClose} />
    </form>
  )
}

const isChosen = (one: readonly [string, FieldModel | undefined]): one is readonly [string, FieldModel] =>
  one[1] !== undefined

/** What is wrong with the choice of fields, whatever the lines have. */
function faultsOf({ fields }: Plan, offered: readonly FieldModel[]): readonly string[] {
  const texts = t.value.many
  const chosen = [...fields.values()]
  const twice = chosen.filter((field, at) => chosen.indexOf(field) !== at)
  const missing = offered.filter((field) => !field.isNullable && !field.hasDefault && !chosen.includes(field))
  return [
    ...new Set([...twice.map(({ title }) => texts.twice(title)), ...missing.map(({ title }) => texts.missing(title))]),
  ]
}

/** Read anew with each plan. */
function useChecked(source: Source, plan: Plan) {
  const [state, setState] = useState<{ readonly checked?: Checked; readonly unreadable?: string }>({})
  useEffect(() => {
    const ended = new AbortController()
    setState({})
    checkSource(source, plan, ended.signal).then(
      (checked) => ended.signal.aborted || setState({ checked }),
      (error) => ended.signal.aborted || setState({ unreadable: explainFile(error) }),
    )
    return () => ended.abort()
  }, [source, plan])
  return state
}

type PreviewProps = { readonly source: Source; readonly plan: Plan; readonly checked: Checked }

function Preview({ source, plan, checked }: PreviewProps) {
  const texts = t.value.many
  const { fits, wrongs, listed, samples } = checked
  const columns = [...plan.fields].map(([name, field]) => ({
    title: field.title,
    cell: ({ values }: Checked['samples'][number]) =>
      Object.hasOwn(values, name) && <PlainValue value={valueIn(values, name)} field={field} />,
  }))
  return (
    <>
      {columns.length > 0 && (
        <Table
          label={texts.preview}
          columns={[placeColumn(source), ...columns]}
          rows={samples}
          keyOf={({ number }) => String(number)}
        />
      )}
      <p role="status">
        {texts.fits(formatNumber(fits), fits)} {wrongs > 0 && texts.wrongs(formatNumber(wrongs), wrongs)}
      </p>
      {wrongs > 0 && (
        <Wrongs source={source} label={texts.wrongs(formatNumber(wrongs), wrongs)} all={listed} count={wrongs} />
      )}
    </>
  )
}
