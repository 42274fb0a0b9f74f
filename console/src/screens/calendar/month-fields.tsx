/** The month of a calendar and its year, to be chosen at once. Not one field of the platform: two browsers of three have none. */
import { t } from '../../messages/messages.ts'
import { Choice } from '../../ui/select.tsx'
import styles from './calendar.module.css'
import { dayText } from './day-cell.tsx'
import type { Month } from './days.ts'

type MonthFieldsProps = { readonly month: Month; readonly onMonth: (month: Month) => void }

const MONTHS = Array.from({ length: 12 }, (_, at) => String(at + 1).padStart(2, '0'))

export function MonthFields({ month, onMonth }: MonthFieldsProps) {
  const texts = t.value.calendar
  const [year = '', own = ''] = month.split('-')
  return (
    <>
      <Choice
        class={styles.choice}
        aria-label={texts.month}
        value={own}
        onValue={(chosen) => onMonth(`${year}-${chosen}`)}
        options={MONTHS.map((one) => [one, dayText(`2000-${one}-01`, { month: 'long' })])}
      />
      <input
        key={year}
        class={styles.choice}
        type="number"
        min={1}
        max={9999}
        aria-label={texts.year}
        // No value that is set again while somebody types, when items arrive.
        defaultValue={year.replace(/^0+/, '')}
        onChange={({ currentTarget }) => {
          if (currentTarget.validity.valid && currentTarget.value !== '')
            onMonth(`${currentTarget.value.padStart(4, '0')}-${own}`)
        }}
      />
    </>
  )
}
