/** A link to a file for whoever has no account: how long it works is chosen, and it is shown once. */
import { files } from 'governed-data-client/files'
import { useState } from 'preact/hooks'
import { clientOf } from '../../data/client.ts'
import { formatTime, t } from '../../messages/messages.ts'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Select } from '../../ui/select.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import page from '../page.module.css'
import { faultOf, useSubmission } from '../submission.tsx'

type LinkProps = { readonly workspace: string; readonly id: string; readonly onClose: () => void }

type Lifetime = keyof typeof t.value.files.link.lifetimes

const lifetimes = ['5m', '15m', '1h'] as const satisfies readonly Lifetime[]

export function FileLink({ workspace, id, onClose }: LinkProps) {
  const texts = t.value.files.link
  const [expiresIn, setExpiresIn] = useState<Lifetime>('15m')
  const [made, setMade] = useState<{ readonly url: string; readonly expiresAt: string }>()
  const { fault, isBusy, submit } = useSubmission(async () => {
    const answer = await files(clientOf(workspace)).link(id, { expiresIn })
    if (!answer.ok) return faultOf(answer)
    setMade(answer.data)
    return undefined
  })
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <Notice look="warning">{texts.text}</Notice>
      {made === undefined ? (
        <form class={page.stack} onSubmit={submit}>
          {fault && <Notice look="danger">{fault}</Notice>}
          <Select
            label={texts.works}
            value={expiresIn}
            onValue={setExpiresIn}
            options={lifetimes.map((one) => [one, texts.lifetimes[one]])}
          />
          <FormActions label={texts.make} isBusy={isBusy} onCancel={onClose} />
        </form>
      ) : (
        <>
          <p>{texts.once(formatTime(made.expiresAt))}</p>
          <ShownOnce text={made.url} closeLabel={t.value.common.close} onClose={onClose} />
        </>
      )}
    </Dialog>
  )
}
