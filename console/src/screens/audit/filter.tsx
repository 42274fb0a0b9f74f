/** By action, by whom and when. It stands in the address, so that it can be sent to somebody. */
import { useState } from 'preact/hooks'
import { address, navigate } from '../../app/router.ts'
import { useQuery } from '../../data/queries.ts'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { Calendar } from '../item/calendar.tsx'
import page from '../page.module.css'
import styles from './audit.module.css'
import { actionName, actionsQuery, type EntryFilter } from './data.ts'

const names = ['action', 'actor', 'target', 'from', 'to'] as const

export function filterInAddress(): EntryFilter {
  const { searchParams } = address.value
  const [action = '', actor = '', target = '', from = '', to = ''] = names.map((name) => searchParams.get(name) ?? '')
  return { action, actor, target, from, to }
}

/** Such as `2026-01-31`, or none. */
const isDay = (text: string) => /^(\d{4}-\d{2}-\d{2})?$/.test(text.trim())

type FilterProps = { readonly workspace: string | undefined; readonly filter: EntryFilter }

export function AuditFilter({ workspace, filter }: FilterProps) {
  const texts = t.value.audit
  const [next, setNext] = useState(filter)
  const [isWrong, setWrong] = useState(false)
  // Until the list is there the chosen one is named as its address names it.
  const chosen = next.action === '' ? [] : [{ action: next.action, label: next.action }]
  const { data: actions = chosen } = useQuery(actionsQuery(workspace))
  const set = (name: (typeof names)[number]) => (value: string) => setNext({ ...next, [name]: value })
  const show = (shown: EntryFilter) => {
    const given = names.filter((name) => shown[name] !== '').map((name) => [name, shown[name].trim()])
    navigate(`${address.value.pathname}?${new URLSearchParams(given)}`)
  }
  return (
    <form
      class={styles.filter}
      aria-label={t.value.grid.filter}
      onSubmit={(event) => {
        event.preventDefault()
        const isRight = [next.from, next.to].every(isDay)
        setWrong(!isRight)
        if (isRight) show(next)
      }}
    >
      <Select
        label={texts.action}
        value={next.action}
        onValue={set('action')}
        options={[['', texts.anyAction] as const, ...actions.map((one) => [one.action, actionName(one)] as const)]}
      />
      <Field label={texts.actor} type="search" value={next.actor} onValue={set('actor')} />
      <Field label={texts.target} type="search" dir="ltr" value={next.target} onValue={set('target')} />
      {(['from', 'to'] as const).map((name) => (
        <Field
          key={name}
          label={texts[name]}
          dir="ltr"
          value={next[name]}
          onValue={set(name)}
          {...(isWrong && !isDay(next[name]) && { error: t.value.grid.wrong.date })}
        >
          <Calendar title={texts[name]} type="date" text={next[name]} onText={set(name)} />
        </Field>
      ))}
      <div class={page.row}>
        <Button type="submit" look="primary">
          {t.value.grid.apply}
        </Button>
        {names.some((name) => filter[name] !== '') && (
          <Button onClick={() => show({ action: '', actor: '', target: '', from: '', to: '' })}>
            {t.value.grid.clearFilter}
          </Button>
        )}
      </div>
    </form>
  )
}
