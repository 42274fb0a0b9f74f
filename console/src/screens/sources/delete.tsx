/** Deleting a source: what hangs on it and what keeps it from going, and its name typed once more. */
import { useState } from 'preact/hooks'
import { navigate, pathTo } from '../../app/router.ts'
import { clientOf } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import { formatNumber, t } from '../../messages/messages.ts'
import { sourceTexts } from '../../messages/sources.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { policiesQuery } from '../access/data.ts'
import page from '../page.module.css'
import { faultOf, useSubmission } from '../submission.tsx'
import { type Source, sourcesChanged } from './data.ts'
import { useEntitled } from './rights.tsx'
import { Collections } from './source.tsx'
import styles from './sources.module.css'

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
  const [refusal, setRefusal] = useState<string>()
  const mayRead = useEntitled(workspace, 'workspaceMembers:read')
  const { data: policies = [], refetch } = useQuery({ ...policiesQuery(workspace), staleTime: 0, enabled: mayRead })
  const naming = policies.filter(
    ({ name, content }) =>
      refusal?.endsWith(` is used by the policy ${name}`) ||
      names.some((collection) => Object.hasOwn(content.collections ?? {}, collection)),
  )
  const isNamed = naming.length > 0
  const { fault, isBusy, submit } = useSubmission(async () => {
    if (typed !== apiName) return texts.typeName(apiName)
    const answer = await clientOf(workspace).$request('DELETE', `sources/data/${id}`)
    if (!answer.ok && answer.status !== 404) {
      const reason = answer.error.messages.at(-1) ?? ''
      if (answer.status !== 409 || !reason.includes(' is used by ')) return faultOf(answer)
      setRefusal(reason)
      if (mayRead) await refetch()
      return texts.deleteRefused(reason)
    }
    showToast(texts.deleted(apiName))
    navigate(pathTo(workspace, 'sources'))
    void sourcesChanged(workspace)
    return undefined
  })
  return (
    <Dialog title={isNamed ? texts.keptOf(apiName) : texts.sureOf(apiName)} onClose={onClose}>
      <form class={page.stack} onSubmit={submit}>
        {fault && <Notice look="danger">{fault}</Notice>}
        {!isNamed && <p>{texts.deleteText}</p>}
        {!isNamed && names.length > 0 && <p>{texts.deleteWith}</p>}
        {isNamed && (
          <>
            {!fault && <Notice look="warning">{texts.deleteNamed}</Notice>}
            <ul class={styles.lines} aria-label={texts.deleteNamed}>
              {naming.map(({ id, name }) => (
                <li key={id}>
                  <a href={pathTo(workspace, 'access', 'policies', id)} dir="auto">
                    {name}
                  </a>
                </li>
              ))}
            </ul>
          </>
        )}
        {!isNamed && names.length > 0 && (
          <>
            <p class={page.quiet}>{texts.gone(formatNumber(names.length), names.length)}</p>
            <Collections workspace={workspace} names={names} />
          </>
        )}
        {!isNamed && (
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
        )}
        <DialogActions>
          <Button onClick={onClose}>{isNamed ? t.value.common.close : t.value.common.cancel}</Button>
          {!isNamed && (
            <Button type="submit" look="danger" isBusy={isBusy} disabled={typed !== apiName}>
              {texts.delete}
            </Button>
          )}
        </DialogActions>
      </form>
    </Dialog>
  )
}
