/** What a model file would change in a workspace: every change, what is lost by it, the SQL; and the button that does it. */
import { type Plan, schema } from 'governed-data-client/system'
import { useState } from 'preact/hooks'
import { clientOf } from '../../data/client.ts'
import { formatNumber, t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { DialogActions } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import styles from '../entry.module.css'
import page from '../page.module.css'
import { obstacleText } from '../review/obstacle.ts'
import { Changes, Statements } from '../review/sheet.tsx'
import { faultOf, useSubmission } from '../submission.tsx'
import own from './set-up.module.css'

export type Model = { readonly collections?: Readonly<Record<string, object>> }

export const modelsOf = (workspace: string) => schema(clientOf(workspace))

type PlannedProps = {
  readonly workspace: string
  readonly model: Model
  readonly plan: Plan
  /** With a collection of the model, where it has one. */
  readonly onDone: (collection: string | undefined) => void
  readonly onBack: () => void
}

/** The error of a plan behind which something has moved. */
const MOVED = '4094'

export function Planned({ workspace, model, plan: first, onDone, onBack }: PlannedProps) {
  const texts = t.value.model
  const [plan, setPlan] = useState(first)
  const [mayDrop, setMayDrop] = useState(false)
  const { changes, destructive, missing } = plan
  const isDropping = destructive.length > 0
  const { fault, isBusy, submit } = useSubmission(async () => {
    const models = modelsOf(workspace)
    const answer = await models.apply(model, plan, mayDrop ? { allow: ['drop'] } : {})
    if (answer.ok) {
      onDone(Object.keys(model.collections ?? {})[0])
      return undefined
    }
    if (answer.error.code !== MOVED) return obstacleText(answer.error) ?? faultOf(answer)
    const again = await models.plan(model)
    if (again.ok) setPlan(again.data)
    setMayDrop(false)
    return texts.moved
  })
  return (
    <form class={styles.form} onSubmit={submit}>
      {fault && <Notice look="danger">{fault}</Notice>}
      {changes.length === 0 && <Notice>{texts.noChanges}</Notice>}
      {missing.length > 0 && <Notice look="warning">{t.value.palette.takes(missing.join(', '))}</Notice>}
      {changes.length > 0 && <Changes changes={changes} level="h2" />}
      {isDropping && (
        <>
          <Notice look="warning">{texts.destructive}</Notice>
          <ul class={own.changes} aria-label={texts.destructive}>
            {destructive.map(({ operation, path, rows }) => (
              <li key={`${operation} ${path}`}>
                <code dir="ltr">{path}</code>{' '}
                {rows !== null && <span class={page.quiet}>{t.value.grid.count(formatNumber(rows), rows)}</span>}
              </li>
            ))}
          </ul>
          <Checkbox label={texts.mayDrop} isChecked={mayDrop} onCheck={setMayDrop} />
        </>
      )}
      {plan.statements.length > 0 && <Statements statements={plan.statements} />}
      <DialogActions>
        <Button look="plain" onClick={onBack}>
          {t.value.connect.back}
        </Button>
        <Button
          type="submit"
          look={isDropping ? 'danger' : 'primary'}
          isBusy={isBusy}
          disabled={missing.length > 0 || (isDropping && !mayDrop)}
        >
          {texts.apply}
        </Button>
      </DialogActions>
    </form>
  )
}
