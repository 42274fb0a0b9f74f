/** The content of a file on the screen of its item: shown where a browser can, downloaded, replaced, and lent by a link. */
import { useState } from 'preact/hooks'
import { clientOf } from '../../data/client.ts'
import { contentPath, contentTagQuery, FILES, fileQuery, kindOf } from '../../data/files.ts'
import { queries, useQuery } from '../../data/queries.ts'
import { accessQuery } from '../../data/workspaces.ts'
import { explainFault } from '../../messages/fault.ts'
import { t } from '../../messages/messages.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { showToast } from '../../ui/toasts.tsx'
import page from '../page.module.css'
import styles from './files.module.css'
import { FileLink } from './link.tsx'
import { UploadButton } from './uploads.tsx'

type ContentProps = { readonly workspace: string; readonly id: string; readonly onChanged: () => void }

export function FileContent({ workspace, id, onChanged }: ContentProps) {
  const texts = t.value.files
  const { data: file } = useQuery(fileQuery(workspace, id))
  const { data: access } = useQuery(accessQuery(workspace))
  const [isBusy, setBusy] = useState(false)
  const [shown, setShown] = useState(0)
  const [isLending, setLending] = useState(false)
  const update = access?.collections[FILES]?.update ?? 'none'
  const mayReplace = update === 'all' || (update !== 'none' && update.fields.includes('mediaType'))
  const { data: tag } = useQuery({ ...contentTagQuery(workspace, id), enabled: mayReplace })
  // Another address for other bytes under the same one.
  const size = kindOf(file?.mediaType) === 'image' ? '?preset=1024' : ''
  const source = `${contentPath(workspace, id)}${size}${shown === 0 ? '' : `#${shown}`}`
  const replace = async (sent: File | undefined) => {
    if (sent === undefined) return
    setBusy(true)
    const options = {
      query: { fileName: sent.name },
      body: sent.slice(),
      timeout: 600_000,
      ...(typeof tag === 'string' && { ifMatch: tag }),
    }
    const answer = await clientOf(workspace).$request('PUT', `assets/${encodeURIComponent(id)}`, options)
    const isOther = answer.status === 412
    if (answer.ok || isOther) {
      // The next replacement is of these bytes, by their tag.
      await queries.invalidateQueries({ queryKey: ['files', workspace] })
      setShown(shown + 1)
      onChanged()
    }
    setBusy(false)
    if (answer.ok) showToast(texts.replaced)
    else showToast(isOther ? texts.replacedMeanwhile : explainFault(answer.error), 'danger')
  }
  return (
    <section class={page.stack} aria-label={texts.content}>
      <div class={styles.content}>
        <Preview key={shown} source={source} mediaType={file?.mediaType} name={file?.fileName ?? ''} />
      </div>
      <span class={page.row}>
        <ButtonLink href={`${contentPath(workspace, id)}?download`} download>
          {texts.download}
        </ButtonLink>
        {mayReplace && tag !== undefined && (
          <UploadButton isBusy={isBusy} onFiles={([chosen]) => void replace(chosen)}>
            {texts.replace}
          </UploadButton>
        )}
        <Button onClick={() => setLending(true)}>{texts.link.open}</Button>
      </span>
      {isLending && <FileLink workspace={workspace} id={id} onClose={() => setLending(false)} />}
    </section>
  )
}

type PreviewProps = { readonly source: string; readonly mediaType: string | undefined; readonly name: string }

function Preview({ source, mediaType, name }: PreviewProps) {
  const kind = kindOf(mediaType)
  if (kind === 'image') return <img src={source} alt={name} />
  // biome-ignore lint/a11y/useMediaCaption: nobody has made captions of what somebody uploads
  if (kind === 'video') return <video src={source} controls preload="metadata" aria-label={name} />
  // biome-ignore lint/a11y/useMediaCaption: as above
  if (kind === 'audio') return <audio src={source} controls preload="metadata" aria-label={name} />
  return <p class={page.quiet}>{t.value.files.noPreview}</p>
}
