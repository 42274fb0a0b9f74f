/** A day of a calendar: its items, and a way to add one. What is in it is reached by Tab where the focus is on the day. */
import { useState } from 'preact/hooks'
import { itemPath, pathTo } from '../../app/router.ts'
import { formatNumber, formatTime, t } from '../../messages/messages.ts'
import { Icon } from '../../ui/icon.tsx'
import { Unseen } from '../../ui/notice.tsx'
import { type CollectionModel, type FieldModel, nameOf } from '../grid/model.ts'
import { searchOf, type View } from '../grid/request.ts'
import { keyOf } from '../grid/rows.ts'
import type { Row } from '../grid/values.ts'
import { givenSearch } from '../item/given.ts'
import styles from './calendar.module.css'
import { beginningOf, type Day, instantOf, momentOf } from './days.ts'

/** As many are seen at once, unless one asks for more. */
const SEEN = 4

type DayProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly view: View
  readonly field: FieldModel
  readonly day: Day
  readonly rows: readonly Row[]
  readonly isOutside: boolean
  readonly isToday: boolean
  readonly isActive: boolean
  readonly onActive: () => void
}

/** Days are written as they are, in whatever zone one reads them. */
export function dayText(day: Day, options: Intl.DateTimeFormatOptions): string {
  return formatTime(instantOf(day), { timeZone: 'UTC', calendar: 'gregory', ...options })
}

export function DayCell(props: DayProps) {
  const { workspace, model, view, field, day, rows, isOutside, isToday, isActive, onActive } = props
  const texts = t.value.calendar
  const [isOpen, setOpen] = useState(false)
  const whole = dayText(day, { dateStyle: 'full' })
  const seen = isOpen || rows.length <= SEEN ? rows : rows.slice(0, SEEN - 1)
  const others = rows.length - seen.length
  const tabIndex = isActive ? 0 : -1
  const open = ({ currentTarget }: Event) => {
    // The button goes, and would take the focus with it.
    ;(currentTarget as Element).closest<HTMLElement>('[data-day]')?.focus()
    setOpen(true)
  }
  const cell = {
    role: 'gridcell',
    tabIndex,
    'data-day': day,
    'data-outside': isOutside || undefined,
    'aria-current': isToday ? 'date' : undefined,
    onFocusCapture: onActive,
  } as const
  return (
    <div class={styles.day} {...cell}>
      <span class={styles.top}>
        <time class={styles.number} dateTime={day}>
          <Unseen>{whole}</Unseen>
          <span aria-hidden="true">
            <span class={styles.name}>{dayText(day, { weekday: 'short' })}</span> {formatNumber(Number(day.slice(8)))}
          </span>
        </time>
        {model.mayCreate && field.mayCreate && (
          <a
            class={styles.add}
            tabIndex={tabIndex}
            href={
              pathTo(workspace, 'new', model.name) +
              givenSearch({ [field.name]: beginningOf(field, day) }, searchOf(view))
            }
            aria-label={texts.add(whole)}
            title={texts.add(whole)}
          >
            <Icon name="add" />
          </a>
        )}
      </span>
      {seen.length > 0 && (
        <ul class={styles.items}>
          {seen.map((row) => {
            const key = keyOf(model, row)
            const [name, { time }] = [nameOf(model, row), momentOf(field, row[field.name])]
            return (
              <li key={JSON.stringify(key)}>
                <a class={styles.item} tabIndex={tabIndex} href={itemPath(workspace, model.name, key)} title={name}>
                  {time !== '' && <span class={styles.time}>{time}</span>} <bdi>{name}</bdi>
                </a>
              </li>
            )
          })}
        </ul>
      )}
      {others > 0 && (
        <button type="button" class={styles.others} tabIndex={tabIndex} onClick={open}>
          {texts.others(formatNumber(others), others)}
        </button>
      )}
    </div>
  )
}
