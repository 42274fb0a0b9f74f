/** The items of a collection on the days of a month: opened by a click, and added to a day. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { CodeButton } from '../app/code.tsx'
import { clientOf } from '../data/client.ts'
import { useQuery } from '../data/queries.ts'
import { firstWeekday, formatNumber, t } from '../messages/messages.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Fault, Notice } from '../ui/notice.tsx'
import styles from './calendar/calendar.module.css'
import { DayCell, dayText } from './calendar/day-cell.tsx'
import { added, beginningOf, type Day, inMonth, instantOf, momentOf, startOf, today, weeksOf } from './calendar/days.ts'
import { MonthFields } from './calendar/month-fields.tsx'
import type { LayoutProps } from './grid/layouts.ts'
import type { FieldModel } from './grid/model.ts'
import type { Row } from './grid/values.ts'
import page from './page.module.css'

/** More would fit into no month that is read by people. */
const MOST = 1_000

export default function Calendar(props: LayoutProps) {
  const { model, layout } = props
  const field = model.fields.find(({ name }) => name === layout.field)
  return field ? <CalendarBy {...props} field={field} /> : null
}

type CalendarProps = LayoutProps & { readonly field: FieldModel }

function CalendarBy(props: CalendarProps) {
  const { workspace, model, view, field, onView } = props
  const texts = t.value.calendar
  const now = today()
  const nearest = useNearest(props, now)
  const month = view.month ?? (nearest ?? now).slice(0, 7)
  const weeks = weeksOf(month, firstWeekday())
  const [chosen, setChosen] = useState(now)
  const active = [chosen, nearest].find((day) => day?.startsWith(month)) ?? `${month}-01`
  const { rows, isWhole, error, refetch, request } = useItems(
    props,
    view.month !== undefined || nearest !== undefined ? weeks : [],
  )
  const dayOf = (row: Row) => momentOf(field, row[field.name]).day
  const byDay = Map.groupBy(rows ?? [], dayOf)
  // Weeks that begin on another day have other days of the months beside it.
  const within = rows?.filter((row) => dayOf(row)?.startsWith(month)).length
  const isEmpty = (day: Day) => day.startsWith(month) && day !== active && !byDay.has(day)
  const empty = rows === undefined ? 0 : weeks.flat().filter(isEmpty).length
  const [areAllShown, setAllShown] = useState(false)
  const go = (day: Day) => {
    setChosen(day)
    if (!day.startsWith(month)) onView({ ...view, month: day.slice(0, 7) })
  }
  const { ref, press } = useKeys(active, go)
  const title = dayText(`${month}-01`, { month: 'long', year: 'numeric' })
  const grid = {
    role: 'grid',
    'aria-label': title,
    'aria-busy': rows === undefined && !error,
    onKeyDown: press,
  } as const
  return (
    <div class={styles.page}>
      <div class={page.row}>
        <h2 class={styles.title}>{title}</h2>
        <span class={page.row}>
          <Button isIcon aria-label={texts.before} onClick={() => go(inMonth(active, -1))}>
            <Icon name="back" />
          </Button>
          <Button onClick={() => go(now)}>{texts.today}</Button>
          <Button isIcon aria-label={texts.after} onClick={() => go(inMonth(active, 1))}>
            <Icon name="forward" />
          </Button>
        </span>
        <span class={page.row}>
          <MonthFields month={month} onMonth={(chosen) => go(`${chosen}-01`)} />
        </span>
        <CodeButton request={() => request} />
        <p class={page.quiet} role="status">
          {within !== undefined && texts.count(formatNumber(within), within)}
        </p>
      </div>
      {error && <Fault error={error} onRetry={refetch} />}
      {!isWhole && <Notice look="warning">{texts.tooMany(formatNumber(MOST))}</Notice>}
      <div ref={ref} class={styles.month} data-all={areAllShown || rows === undefined} {...grid}>
        <div class={`${styles.week} ${styles.weekdays}`} {...row}>
          {weeks[0]?.map((day) => (
            <div key={day} class={styles.weekday} {...header}>
              {dayText(day, { weekday: 'short' })}
            </div>
          ))}
        </div>
        {weeks.map((week) => (
          <div key={week[0]} class={styles.week} {...row}>
            {week.map((day) => (
              <DayCell
                key={day}
                workspace={workspace}
                model={model}
                view={view}
                field={field}
                day={day}
                rows={byDay.get(day) ?? []}
                isOutside={!day.startsWith(month)}
                isToday={day === now}
                isActive={day === active}
                onActive={() => setChosen(day)}
              />
            ))}
          </div>
        ))}
      </div>
      {empty > 0 && !areAllShown && (
        <span class={styles.rest}>
          <Button onClick={() => setAllShown(true)}>{texts.rest(formatNumber(empty), empty)}</Button>
        </span>
      )}
    </div>
  )
}

const row = { role: 'row' } as const
const header = { role: 'columnheader' } as const

/** The day of an item that is nearest to this one, by two requests for one item each; undefined while it is not known. */
function useNearest({ workspace, model, view, field }: CalendarProps, now: Day): Day | undefined {
  const first = beginningOf(field, `${now.slice(0, 7)}-01`)
  const path = `items/${encodeURIComponent(model.name)}`
  const dayOf = async (operator: '_gte' | '_lt') => {
    const query = {
      fields: field.name,
      filter: allOf(view, { [field.name]: { [operator]: first } }),
      sort: [{ [field.name]: { direction: operator === '_gte' ? 'asc' : 'desc' } }],
      limit: 1,
    }
    const answer = await clientOf(workspace).$request<{ readonly data: readonly Row[] }>('GET', path, { query })
    return answer.ok ? momentOf(field, answer.data.data[0]?.[field.name]).day : undefined
  }
  const { data } = useQuery<Day>({
    queryKey: ['calendar', workspace, path, 'nearest', field.name, view.filter, first],
    enabled: view.month === undefined,
    queryFn: async () => {
      const [next, last] = await Promise.all([dayOf('_gte'), dayOf('_lt')])
      const distanceOf = (day: Day | undefined) =>
        day === undefined ? Number.POSITIVE_INFINITY : Math.abs(instantOf(day) - instantOf(now))
      if (next?.slice(0, 7) === now.slice(0, 7)) return now
      return (distanceOf(next) <= distanceOf(last) ? next : last) ?? now
    },
  })
  return data
}

function allOf({ filter }: CalendarProps['view'], within: object): object {
  return filter ? { _and: [filter, within] } : within
}

/**
 * Those of all weeks that are seen, in one request, which is sent again when rows are read anew elsewhere. None are asked for while the
 * weeks are not known.
 */
function useItems({ workspace, model, view, rows, field }: CalendarProps, weeks: readonly (readonly Day[])[]) {
  const [from = '', last = ''] = [weeks[0]?.[0], weeks.at(-1)?.at(-1)]
  const isKnown = weeks.length > 0
  const within = isKnown ? { _gte: beginningOf(field, from), _lt: beginningOf(field, added(last, 1)) } : {}
  const requestedFields = [...model.key, ...(model.display?.shows ?? []), field.name]
  const query = {
    fields: [...new Set(requestedFields)].join(),
    filter: allOf(view, { [field.name]: within }),
    sort: [{ [field.name]: { direction: 'asc' } }],
  }
  const path = `items/${encodeURIComponent(model.name)}`
  const { data, error, refetch } = useQuery<readonly Row[]>({
    queryKey: ['calendar', workspace, path, query, rows.turn.value],
    staleTime: 0,
    enabled: isKnown,
    queryFn: async () => {
      const options = { query: { ...query, limit: MOST + 1 } }
      return (await clientOf(workspace).$request<{ readonly data: readonly Row[] }>('GET', path, options).orThrow())
        .data
    },
  })
  return {
    rows: data?.slice(0, MOST),
    isWhole: (data?.length ?? 0) <= MOST,
    error: data ? null : error,
    refetch: () => void refetch(),
    request: { workspace, collection: model.name, method: 'GET' as const, query: { ...query, limit: MOST } },
  }
}

/** The focus goes from day to day, as in a grid, and to another month over its edge. */
function useKeys(active: Day, go: (day: Day) => void) {
  const ref = useRef<HTMLDivElement>(null)
  const isMoved = useRef(false)
  useLayoutEffect(() => {
    if (isMoved.current) ref.current?.querySelector<HTMLElement>('[data-day][tabindex="0"]')?.focus()
    isMoved.current = false
  }, [active])
  const press = (event: KeyboardEvent) => {
    const { key, target, currentTarget, ctrlKey, metaKey, altKey } = event
    if (!(target instanceof HTMLElement) || target.dataset.day === undefined || ctrlKey || metaKey || altKey) return
    const isRightToLeft = getComputedStyle(currentTarget as HTMLElement).direction === 'rtl'
    const start = startOf(active, firstWeekday())
    const to = {
      ArrowLeft: added(active, isRightToLeft ? 1 : -1),
      ArrowRight: added(active, isRightToLeft ? -1 : 1),
      ArrowUp: added(active, -7),
      ArrowDown: added(active, 7),
      Home: start,
      End: added(start, 6),
      PageUp: inMonth(active, -1),
      PageDown: inMonth(active, 1),
    }[key]
    if (key === 'Enter') target.querySelector<HTMLElement>('a')?.click()
    if (to === undefined && key !== 'Enter') return
    event.preventDefault()
    if (to === undefined || to === active) return
    isMoved.current = true
    go(to)
  }
  return { ref, press }
}
