/** A model file that is pasted, with what it would change before it does. */
import type { Plan } from 'governed-data-client/system'
import { useState } from 'preact/hooks'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { DialogActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import styles from '../entry.module.css'
import { faultOf, useSubmission } from '../submission.tsx'
import { type Model, modelsOf, Planned } from './planned.tsx'

type ModelFileProps = {
  readonly workspace: string
  /** With a collection of the file, where it has one. */
  readonly onDone: (collection: string | undefined) => void
  readonly onBack: () => void
}

export function ModelFile({ workspace, onDone, onBack }: ModelFileProps) {
  const texts = t.value.model
  const [text, setText] = useState('')
  const [planned, setPlanned] = useState<{ readonly model: Model; readonly plan: Plan }>()
  const { fault, isBusy, submit } = useSubmission(async () => {
    let model: Model
    try {
      model = JSON.parse(text)
    } catch {
      return texts.noJson
    }
    const answer = await modelsOf(workspace).plan(model)
    if (!answer.ok) return faultOf(answer)
    setPlanned({ model, plan: answer.data })
    return undefined
  })
  if (planned !== undefined) {
    return <Planned workspace={workspace} {...planned} onDone={onDone} onBack={() => setPlanned(undefined)} />
  }
  return (
    <form class={styles.form} onSubmit={submit}>
      {fault && <Notice look="danger">{fault}</Notice>}
      <Field
        label={texts.file}
        hint={texts.fileText}
        lines={14}
        required
        autofocus
        dir="ltr"
        spellcheck={false}
        value={text}
        onValue={setText}
      />
      <DialogActions>
        <Button look="plain" onClick={onBack}>
          {t.value.connect.back}
        </Button>
        <Button type="submit" look="primary" isBusy={isBusy}>
          {texts.showPlan}
        </Button>
      </DialogActions>
    </form>
  )
}
