/** A form whose model is planned before anything changes: what is wrong with it, or what it would do. */
import type { ServiceError } from 'governed-data-client'
import type { Plan } from 'governed-data-client/system'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { DialogActions } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import styles from '../entry.module.css'
import { obstacleText } from '../review/obstacle.ts'
import { faultOf, useSubmission } from '../submission.tsx'
import { type Model, modelsOf, Planned } from './planned.tsx'

export type WayProps = {
  readonly workspace: string
  /** With a collection of the model, where it has one. */
  readonly onDone: (collection: string | undefined) => void
  readonly onBack: () => void
  /** Whether its plan is shown, as it comes and goes. */
  readonly onPlanned?: (isPlanned: boolean) => void
}

type PlanningProps = Omit<WayProps, 'onBack'> & {
  /** Absent where there is nothing to go back to. */
  readonly onBack?: () => void
  /** What is typed so far: a fault is said as long as this is what it is about. */
  readonly draft: unknown
  /** A text says what is wrong with the draft; undefined where the form says so itself. */
  readonly onModel: () => Promise<Model | string | undefined>
  /** Of a model that is refused. */
  readonly onRefused?: (error: ServiceError) => void
  readonly children: ComponentChildren
}

export function Planning(props: PlanningProps) {
  const { workspace, onDone, onBack, onPlanned, draft, onModel, onRefused, children } = props
  const [planned, setPlanned] = useState<{ readonly model: Model; readonly plan: Plan }>()
  const [sent, setSent] = useState<unknown>()
  const { fault, isBusy, submit } = useSubmission(async () => {
    setSent(draft)
    const model = await onModel()
    if (model === undefined || typeof model === 'string') return model
    const answer = await modelsOf(workspace).plan(model)
    if (!answer.ok) {
      onRefused?.(answer.error)
      return obstacleText(answer.error) ?? faultOf(answer)
    }
    setPlanned({ model, plan: answer.data })
    onPlanned?.(true)
    return undefined
  })
  if (planned !== undefined) {
    const back = () => {
      setPlanned(undefined)
      onPlanned?.(false)
    }
    return <Planned workspace={workspace} {...planned} onDone={onDone} onBack={back} />
  }
  return (
    <form class={styles.form} onSubmit={submit}>
      {fault && sent === draft && <Notice look="danger">{fault}</Notice>}
      {children}
      <DialogActions>
        {onBack && (
          <Button look="plain" onClick={onBack}>
            {t.value.connect.back}
          </Button>
        )}
        <Button type="submit" look="primary" isBusy={isBusy}>
          {t.value.model.showPlan}
        </Button>
      </DialogActions>
    </form>
  )
}
