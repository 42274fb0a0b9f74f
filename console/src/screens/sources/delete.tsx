/** Deleting a source: what hangs on it, and its name typed once more. */
import { useState } from 'preact/hooks'
import { navigate, pathTo } from '../../app/router.ts'
import { clientOf } from '../../data/client.ts'
import { formatNumber, t } from '../../messages/messages.ts'
import { sourceTexts } from '../../messages/sources.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { showToast } from '../../ui/toasts.tsx'
import page from '../page.module.css'
import { faultOf, useSubmission } from '../submission.tsx'
import { type Source, sourcesChanged } from './data.ts'
import { Collections } from './source.tsx'

type DeleteProps = {
  readonly workspace: string
  readonly source: Source
  /** Of its collections. */
  readonly names: readonly string[]
  readonly onClose: () => void
}

export function DeleteSource({ workspace, source: { id, apiName }, names, onClose }: DeleteProps) {
  const texts = sourceTexts.value
  const [typed, setTyped] = useState('')
  const { fault, isBusy, submit } = useSubmission(async () => {
    if (typed !== apiName) return texts.typeName(apiName)
    const answer = await clientOf(workspace).$request('DELETE', `sources/data/${id}`)
    if (!answer.ok && answer.status !== 404) return faultOf(answer)
    showToast(texts.deleted(apiName))
    navigate(pathTo(workspace, 'sources'))
    void sourcesChanged(workspace)
    return undefined
  })
  return (
    <Dialog title={texts.deleteOf(apiName)} onClose={onClose}>
      <form class={page.stack} onSubmit={submit}>
        {fault && <Notice look="danger">{fault}</Notice>}
        <p>{texts.deleteText}</p>
        {names.length > 0 && <p>{texts.deleteWith}</p>}
        <p class={page.quiet}>{texts.count(formatNumber(names.length), names.length)}</p>
        <Collections workspace={workspace} names={names} />
        <Field
          label={texts.typeName(apiName)}
          labelCode={apiName}
          required
          autofocus
          dir="ltr"
          autocomplete="off"
          spellcheck={false}
          value={typed}
          onValue={setTyped}
        />
        <DialogActions>
          <Button onClick={onClose}>{t.value.common.cancel}</Button>
          <Button type="submit" look="danger" isBusy={isBusy} disabled={typed !== apiName}>
            {texts.delete}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
