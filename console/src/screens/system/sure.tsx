/** A question before something is done that cannot be taken back by the same button. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { t } from '../../messages/messages.ts'
import { systemTexts } from '../../messages/system.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import page from '../page.module.css'
import { faultOf, useSubmission } from '../submission.tsx'

type Answered = { readonly ok: true } | (Parameters<typeof faultOf>[0] & { readonly ok: false })

type SureProps = {
  readonly title: string
  /** What the button says. */
  readonly label: string
  /** What has to be typed first, where a slip would cost much. */
  readonly typed?: string | undefined
  readonly onConfirm: () => PromiseLike<Answered>
  /** After it is done. */
  readonly onDone: () => void
  readonly onClose: () => void
  readonly children: ComponentChildren
}

export function Sure({ title, label, typed: wanted, onConfirm, onDone, onClose, children }: SureProps) {
  const texts = systemTexts.value
  const [typed, setTyped] = useState('')
  const isTyped = wanted === undefined || typed === wanted
  const { fault, isBusy, submit } = useSubmission(async () => {
    if (!isTyped) return texts.typeIt(wanted)
    const answer = await onConfirm()
    if (!answer.ok) return faultMessageOf(answer)
    onDone()
    return undefined
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <form class={page.stack} onSubmit={submit}>
        {fault && <Notice look="danger">{fault}</Notice>}
        {children}
        {wanted !== undefined && (
          <Field
            label={texts.typeIt(wanted)}
            labelCode={wanted}
            {...(!isTyped && { hint: texts.typeHint })}
            required
            autofocus
            autocomplete="off"
            spellcheck={false}
            value={typed}
            onValue={setTyped}
          />
        )}
        <DialogActions>
          <Button onClick={onClose}>{t.value.common.cancel}</Button>
          <Button type="submit" look="danger" isBusy={isBusy} disabled={!isTyped}>
            {label}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

/** Why the state of things does not allow it, as the service says it. */
export function faultMessageOf(answer: Parameters<typeof faultOf>[0]): string {
  return faultOf(answer, { 409: answer.error.messages.join(': ') })
}
