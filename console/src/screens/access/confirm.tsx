/** A question before a change of rights: with what it would give and take, which whoever confirms has seen. */
import type { MayFail, PlannedRights } from 'governed-data-client/system'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { accessTexts } from '../../messages/access.ts'
import { Notice } from '../../ui/notice.tsx'
import { ReviewSheet } from '../review/sheet.tsx'
import { faultOf, useSubmission } from '../submission.tsx'
import { Effect, useEffectOf } from './effect.tsx'

type ConfirmProps<T> = {
  readonly workspace: string
  readonly title: string
  readonly planned: PlannedRights
  /** What the button says, and whether what it does cannot be undone by the same button. */
  readonly label: string
  readonly look?: 'primary' | 'danger'
  /** With what has to be sent along. */
  readonly onConfirm: (how: MayFail) => PromiseLike<Answered<T>>
  /** After it is done. */
  readonly onDone: (answered: T) => Promise<void>
  readonly onClose: () => void
  readonly children?: ComponentChildren
}

/** Of an error: tests would fail. */
const FAILING = '4097'

type Answered<T> = { readonly ok: true; readonly data: T } | (Parameters<typeof faultOf>[0] & { readonly ok: false })

/** Waits for the effect; where that is not known, the change is still to be made. */
export function Confirm<T>(props: ConfirmProps<T>) {
  const { workspace, title, planned, label, look = 'danger', onConfirm, onDone, onClose, children } = props
  const texts = accessTexts.value
  const effect = useEffectOf({ workspace, planned })
  const [isWarned, setWarned] = useState(false)
  const mayFail = isWarned || effect.failing.length > 0
  const { fault, isBusy, submit } = useSubmission(async () => {
    const answer = await onConfirm(mayFail ? { allow: 'failingTests' } : {})
    if (answer.ok) {
      await onDone(answer.data)
      return undefined
    }
    // What the caller was not shown before, or has changed since.
    if (answer.error.code !== FAILING) return faultOf(answer, { 403: texts.exceeds })
    setWarned(true)
    return texts.wouldFail(namesIn(answer.error.meta))
  })
  return (
    <ReviewSheet
      title={title}
      label={mayFail ? texts.despite(label) : label}
      look={mayFail ? 'danger' : look}
      isBusy={isBusy || effect.isPending}
      onConfirm={submit}
      onClose={onClose}
    >
      {fault && <Notice look="danger">{fault}</Notice>}
      {(children || effect.isShown) && <p>{children ?? texts.effectFirst}</p>}
      <Effect workspace={workspace} effect={effect} />
    </ReviewSheet>
  )
}

function namesIn(meta: unknown): readonly string[] {
  const { tests = [] } = (meta ?? {}) as { readonly tests?: readonly { readonly name: string }[] }
  return tests.map(({ name }) => name)
}
