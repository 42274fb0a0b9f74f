/** A button beside a date that is typed, which opens the browser's own picker. */
import { useRef } from 'preact/hooks'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { formTextOf } from '../grid/values.ts'
import styles from './item.module.css'

type CalendarProps = {
  readonly title: string
  readonly type: string
  readonly text: string
  readonly onText: (text: string) => void
}

export function Calendar({ title, type, text, onText }: CalendarProps) {
  const native = useRef<HTMLInputElement>(null)
  return (
    <span class={styles.calendar}>
      <Button aria-label={t.value.item.chooseDate(title)} onClick={() => native.current?.showPicker()}>
        <Icon name="calendar" />
      </Button>
      <input
        ref={native}
        type={type === 'date' ? 'date' : 'datetime-local'}
        step={type === 'date' ? undefined : 1}
        tabIndex={-1}
        aria-hidden="true"
        value={picked(type, text)}
        onChange={({ currentTarget: { value } }) => value !== '' && onText(typed(type, value))}
      />
    </span>
  )
}

export function hasCalendar(type: string): boolean {
  return type.startsWith('date')
}

/** As the picker has it, in the zone of the browser; empty for what it does not know. */
function picked(type: string, text: string): string {
  if (type !== 'dateTimeWithTimezone') return text.replace(' ', 'T').slice(0, type === 'date' ? 10 : 19)
  const at = new Date(text)
  return Number.isNaN(at.getTime())
    ? ''
    : new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

/** As the field has it. Browsers leave out seconds that are none. */
function typed(type: string, value: string): string {
  if (type === 'date') return value
  const whole = type === 'dateTime' ? value.padEnd(19, ':00') : new Date(value).toISOString().replace('.000', '')
  return formTextOf({ type, isList: false }, whole)
}
