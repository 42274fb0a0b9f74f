/** The filter of a grid as conditions of which all must hold, or one: field, operator, value. */
import { useMemo, useState } from 'preact/hooks'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import page from '../page.module.css'
import { type Column, labelOf } from './columns.ts'
import styles from './grid.module.css'
import { type Condition, conditionsOf, filterOf, type Match, offeredOperators, operandsOf } from './request.ts'

type FilterProps = {
  readonly columns: readonly Column[]
  readonly filter: object | undefined
  readonly onFilter: (filter: object | undefined) => void
}

export function Filter({ columns, filter, onFilter }: FilterProps) {
  const texts = t.value.grid
  const offered = columns.filter(({ field }) => offeredOperators(field).length > 0)
  const find = (path: readonly string[]) => offered.find((column) => column.path.join('.') === path.join('.'))
  const fresh = (column: Column | undefined): Condition[] =>
    column ? [{ path: column.path, operator: offeredOperators(column.field)[0] ?? '_eq', operands: [''] }] : []
  const editable = useMemo(() => {
    const parsed = conditionsOf(filter)
    const isWhole = parsed?.conditions.every(({ path, operator }) => {
      const field = find(path)?.field
      return field !== undefined && offeredOperators(field).includes(operator)
    })
    return isWhole ? parsed : undefined
  }, [])
  const [match, setMatch] = useState<Match>(editable?.match ?? 'all')
  const [conditions, setConditions] = useState<readonly Condition[]>(() =>
    editable && editable.conditions.length > 0 ? editable.conditions : fresh(offered[0]),
  )
  const [wrong, setWrong] = useState<number | undefined>(undefined)
  const change = (index: number, to: Partial<Condition>) => {
    setWrong(undefined)
    setConditions(conditions.map((condition, at) => (at === index ? { ...condition, ...to } : condition)))
  }
  const apply = (event: Event) => {
    event.preventDefault()
    const made = filterOf(
      conditions.flatMap((condition) => {
        const field = find(condition.path)?.field
        return field ? [{ ...condition, field }] : []
      }),
      match,
    )
    if ('wrong' in made) setWrong(made.wrong)
    else onFilter(made.filter)
  }
  return (
    <form class={styles.filter} aria-label={texts.filter} onSubmit={apply}>
      {editable === undefined && (
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
              onChange={(event) => change(index, { operator: event.currentTarget.value, operands: [''] })}
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
              onClick={() => setConditions(conditions.filter((_, at) => at !== index))}
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
        <Button type="submit" look="primary">
          {texts.apply}
        </Button>
        {filter !== undefined && (
          <Button
            onClick={() => {
              setConditions(fresh(offered[0]))
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

type OperandsProps = {
  readonly condition: Condition
  readonly column: Column
  readonly isWrong: boolean
  readonly onValue: (place: number, text: string) => void
}

function Operands({ condition: { operator, operands }, column: { field }, isWrong, onValue }: OperandsProps) {
  const texts = t.value.grid
  const kind = operandsOf(operator)
  const choices =
    kind === 'boolean' || (kind === 'one' && field.type === 'boolean')
      ? [
          ['true', texts.yes],
          ['false', texts.no],
        ]
      : kind === 'one' && field.values.length > 0
        ? field.values.map((value) => [value, value])
        : undefined
  if (choices !== undefined) {
    const shown = operands[0] || choices[0]?.[0]
    // What is shown first is meant without being touched.
    if (operands[0] !== shown) onValue(0, shown ?? '')
    return (
      <select
        class={styles.operand}
        aria-label={texts.value}
        value={shown}
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
      placeholder={kind === 'list' ? texts.listHint : undefined}
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
