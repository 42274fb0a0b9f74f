/** The filter of a grid as conditions of which all must hold, or one: field, operator, value. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { listed, t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import page from '../page.module.css'
import { type Column, labelOf } from './columns.ts'
import styles from './grid.module.css'
import type { FieldModel } from './model.ts'
import {
  type Condition,
  type Conditions,
  conditionsOf,
  filterOf,
  type Match,
  offeredOperators,
  operandsOf,
} from './request.ts'

type FilterProps = {
  readonly columns: readonly Column[]
  readonly filter: object | undefined
  readonly takesFocus?: boolean
  /** Of a filter that is applied by a button of its own. */
  readonly onFilter?: (filter: object | undefined) => void
  /** Of one that is a part of something else: what its conditions come to, after each change of them. */
  readonly onBuilt?: (built: ReturnType<typeof filterOf>) => void
  /** Absent where it stays. */
  readonly onClose?: () => void
}

export function Filter({ columns, filter, takesFocus = false, onFilter, onBuilt, onClose }: FilterProps) {
  const texts = t.value.grid
  const offered = columns.filter(({ field }) => offeredOperators(field).length > 0)
  const find = (path: readonly string[]) => columnAt(offered, path)
  const fresh = (column: Column | undefined): Condition[] =>
    column ? [{ path: column.path, operator: firstOperator(column.field), operands: [usualOperand(column.field)] }] : []
  const editable = useMemo(() => editableIn(offered, filter), [])
  const [match, setMatch] = useState<Match>(editable?.match ?? 'all')
  const [conditions, setConditions] = useState<readonly Condition[]>(() =>
    editable && editable.conditions.length > 0 ? editable.conditions : fresh(offered[0]),
  )
  const [wrong, setWrong] = useState<number | undefined>(undefined)
  /** Until one of these conditions takes its place. */
  const [isOfOthers, setOfOthers] = useState(editable === undefined)
  const form = useRef<HTMLFormElement>(null)
  const focus = () => form.current?.querySelector<HTMLElement>('select, input, button')?.focus()
  useEffect(() => {
    if (takesFocus) focus()
  }, [])
  const change = (index: number, to: Partial<Condition>) => {
    setWrong(undefined)
    setConditions(conditions.map((condition, at) => (at === index ? { ...condition, ...to } : condition)))
  }
  const built = () =>
    filterOf(
      conditions.flatMap((condition) => {
        const field = find(condition.path)?.field
        return field ? [{ ...condition, field }] : []
      }),
      match,
    )
  const isNew = useRef(true)
  useEffect(() => {
    // What it begins with says nothing yet.
    if (!isNew.current) onBuilt?.(built())
    isNew.current = false
  }, [conditions, match])
  const apply = (event: Event) => {
    event.preventDefault()
    if (onFilter === undefined) return
    const made = built()
    if ('wrong' in made) return setWrong(made.wrong)
    setOfOthers(false)
    onFilter(made.filter)
  }
  return (
    <form
      ref={form}
      class={styles.filter}
      aria-label={texts.filter}
      onSubmit={apply}
      onKeyDown={({ key }) => {
        if (key === 'Escape') onClose?.()
      }}
    >
      {isOfOthers && (
        <p class={page.quiet}>
          {texts.filterOfOthers} <code>{JSON.stringify(filter)}</code>
        </p>
      )}
      {conditions.length > 1 && (
        <div>
          <select
            class={styles.operand}
            aria-label={texts.match}
            value={match}
            onChange={(event) => setMatch(event.currentTarget.value as Match)}
          >
            <option value="all">{texts.matchAll}</option>
            <option value="any">{texts.matchAny}</option>
          </select>
        </div>
      )}
      {conditions.map(({ path, operator, operands }, index) => {
        const column = find(path)
        if (column === undefined) return null
        const set = (place: number, text: string) => {
          const all = operandsOf(operator) === 'two' ? [operands[0] ?? '', operands[1] ?? ''] : [operands[0] ?? '']
          change(index, { operands: all.map((before, at) => (at === place ? text : before)) })
        }
        return (
          <fieldset key={index} class={styles.condition} aria-label={texts.condition}>
            <select
              class={styles.operand}
              aria-label={texts.field}
              value={column.id}
              onChange={(event) => {
                const chosen = offered.find(({ id }) => id === event.currentTarget.value)
                const [next] = fresh(chosen)
                if (next) change(index, next)
              }}
            >
              {offered.map((one) => (
                <option key={one.id} value={one.id}>
                  {labelOf(one)}
                </option>
              ))}
            </select>
            <select
              class={styles.operand}
              aria-label={texts.operator}
              value={operator}
              onChange={({ currentTarget: { value } }) =>
                change(index, { operator: value, operands: [usualOperand(column.field, value)] })
              }
            >
              {offeredOperators(column.field).map((name) => (
                <option key={name} value={name}>
                  {texts.operators[name] ?? name}
                </option>
              ))}
            </select>
            <Operands
              condition={{ path, operator, operands }}
              column={column}
              onValue={set}
              isWrong={wrong === index}
            />
            <Button
              look="plain"
              isIcon
              aria-label={texts.removeCondition}
              onClick={() => {
                setConditions(conditions.filter((_, at) => at !== index))
                focus()
              }}
            >
              <Icon name="close" />
            </Button>
          </fieldset>
        )
      })}
      {wrong !== undefined && (
        <p class={page.wrong} role="alert">
          {texts.wrongOperand}
        </p>
      )}
      <div class={page.row}>
        <Button look="plain" onClick={() => setConditions([...conditions, ...fresh(offered[0])])}>
          <Icon name="add" />
          {texts.addCondition}
        </Button>
        {onFilter && (
          <Button type="submit" look="primary">
            {texts.apply}
          </Button>
        )}
        {onFilter && filter !== undefined && (
          <Button
            onClick={() => {
              setConditions(fresh(offered[0]))
              setOfOthers(false)
              // The button goes with the filter.
              focus()
              onFilter(undefined)
            }}
          >
            {texts.clearFilter}
          </Button>
        )}
      </div>
    </form>
  )
}

const columnAt = (columns: readonly Column[], path: readonly string[]) =>
  columns.find((one) => one.path.join('.') === path.join('.'))

/** What of a filter is shown here as conditions: all of it, or undefined. */
export function editableIn(columns: readonly Column[], filter: object | undefined): Conditions | undefined {
  const parsed = conditionsOf(filter)
  const isWhole = parsed?.conditions.every(({ path, operator }) => {
    const field = columnAt(columns, path)?.field
    return field !== undefined && offeredOperators(field).includes(operator)
  })
  return isWhole ? parsed : undefined
}

/** What a filter says, such as `pages is greater than 50`; undefined where conditions cannot say it. */
export function filterWords(columns: readonly Column[], filter: object): readonly string[] | undefined {
  const texts = t.value.grid
  const { conditions = [], match } = editableIn(columns, filter) ?? {}
  const words = conditions.flatMap(({ path, operator, operands }) => {
    const column = columnAt(columns, path)
    if (column === undefined) return []
    const named = choicesOf(column.field, operator)
    const values = operands.map((operand) => named?.find(([value]) => value === operand)?.[1] ?? operand)
    return [[labelOf(column), texts.operators[operator] ?? operator, listed(values)].join(' ')]
  })
  if (words.length === 0) return undefined
  return words.length === 1 ? words : [`${match === 'any' ? texts.matchAny : texts.matchAll}:`, ...words]
}

type OperandsProps = {
  readonly condition: Condition
  readonly column: Column
  readonly isWrong: boolean
  readonly onValue: (place: number, text: string) => void
}

function Operands({ condition: { operator, operands }, column: { field }, isWrong, onValue }: OperandsProps) {
  const texts = t.value.grid
  const kind = operandsOf(operator)
  const choices = choicesOf(field, operator)
  if (choices !== undefined) {
    return (
      <select
        class={styles.operand}
        aria-label={texts.value}
        value={operands[0]}
        onChange={(event) => onValue(0, event.currentTarget.value)}
      >
        {choices.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    )
  }
  const input = (place: number, label: string) => (
    <input
      class={styles.operand}
      aria-label={label}
      aria-invalid={isWrong}
      dir="auto"
      placeholder={kind === 'list' ? texts.listHint : label}
      value={operands[place] ?? ''}
      onInput={(event) => onValue(place, event.currentTarget.value)}
    />
  )
  return kind === 'two' ? (
    <>
      {input(0, texts.value)}
      {input(1, texts.secondValue)}
    </>
  ) : (
    input(0, texts.value)
  )
}

/** The values that there are to choose from; undefined where one is typed. */
function choicesOf(
  field: FieldModel,
  operator: string,
): readonly (readonly [value: string, label: string])[] | undefined {
  const texts = t.value.grid
  const kind = operandsOf(operator)
  if (kind === 'boolean' || (kind === 'one' && field.type === 'boolean')) {
    return [
      ['true', texts.yes],
      ['false', texts.no],
    ]
  }
  return kind === 'one' && field.values.length > 0 ? field.values.map((value) => [value, value]) : undefined
}

/** What is shown first, which is meant without being touched. */
function usualOperand(field: FieldModel, operator = firstOperator(field)): string {
  return choicesOf(field, operator)?.[0]?.[0] ?? ''
}

const firstOperator = (field: FieldModel) => offeredOperators(field)[0] ?? '_eq'
