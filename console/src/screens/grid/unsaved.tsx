/** Changes that could not be saved: why, what was typed, and what can be done. */
import { useEffect } from 'preact/hooks'
import { explainFault } from '../../messages/fault.ts'
import { formatNumber, t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { keyTextOf, WhyRefused } from '../access/asking.tsx'
import styles from './grid.module.css'
import type { CollectionModel } from './model.ts'
import { readableOf } from './readable.ts'
import type { Saving } from './saving.ts'
import { isTime, textOf } from './values.ts'

type UnsavedProps = { readonly workspace: string; readonly model: CollectionModel; readonly saving: Saving }

export function Unsaved({ workspace, model, saving }: UnsavedProps) {
  const edits = saving.edits.value
  useHold(edits.length > 0)
  const texts = t.value.grid
  return (
    <>
      {edits.map((edit) => {
        const { changes, error } = edit
        const [first] = changes
        if (error === undefined || first === undefined) return null
        const field = model.fields.find(({ name }) => name === first.field)
        const named = field ?? model.toMany.find(({ name }) => name === first.field)
        const title = named?.title ?? first.field
        const value =
          first.link?.shown ?? (field && isTime(field) ? readableOf(field, first.value) : textOf(first.value))
        return (
          <Notice
            key={JSON.stringify([first.key, first.field])}
            look="danger"
            action={
              <span class={styles.tools}>
                <Button onClick={() => saving.retry(edit)}>{t.value.common.retry}</Button>
                <Button look="plain" onClick={() => saving.discard(edit)}>
                  {texts.discard}
                </Button>
                <WhyRefused
                  workspace={workspace}
                  error={error}
                  question={{
                    collection: model.name,
                    action: 'update',
                    field: first.field,
                    key: keyTextOf(model.key, first.key),
                  }}
                />
              </span>
            }
          >
            <strong dir="auto">{texts.notSaved(title, value)}</strong>{' '}
            {changes.length > 1 && texts.andOthers(formatNumber(changes.length - 1), changes.length - 1)}{' '}
            {explainFault(error)}
          </Notice>
        )
      })}
    </>
  )
}

/** The browser asks before it leaves the page while there is something that would be lost. */
export function useHold(hasAny: boolean): void {
  useEffect(() => {
    if (!hasAny) return
    const hold = (event: Event) => event.preventDefault()
    addEventListener('beforeunload', hold)
    return () => removeEventListener('beforeunload', hold)
  }, [hasAny])
}
