/** A field that leads to a file: what it leads to in small, and an upload in place of a choice. */
import type { FileItem } from 'governed-data-client/files'
import type { ComponentChildren } from 'preact'
import { FILES, fileQuery } from '../../data/files.ts'
import { useQuery } from '../../data/queries.ts'
import { accessQuery } from '../../data/workspaces.ts'
import { t } from '../../messages/messages.ts'
import { Icon } from '../../ui/icon.tsx'
import styles from './files.module.css'
import { FileMark } from './mark.tsx'
import { UploadButton, Uploads, uploadAll } from './uploads.tsx'

type FileFieldProps = {
  readonly workspace: string
  readonly title: string
  /** Of the file that it leads to; null for none. */
  readonly id: string | null
  readonly isMany?: boolean
  /** Absent where it may not be changed. */
  readonly onFile: ((item: FileItem) => void) | undefined
  /** What stands beside the upload. */
  readonly children?: ComponentChildren
}

export function FileField({ workspace, title, id, isMany = false, onFile, children }: FileFieldProps) {
  const { data: file } = useQuery(fileQuery(workspace, id))
  const { data: access } = useQuery(accessQuery(workspace))
  const mayUpload = (access?.collections[FILES]?.create ?? 'none') !== 'none'
  const place = `${location.pathname} ${title}`
  return (
    <div class={styles.field}>
      {id !== null && file && <FileMark workspace={workspace} id={id} mediaType={file.mediaType} look="tile" />}
      {onFile && mayUpload && (
        <UploadButton
          label={t.value.files.uploadFor(title)}
          isMany={isMany}
          onFiles={(chosen) => uploadAll(workspace, place, chosen, onFile)}
        >
          <Icon name="upload" />
          {t.value.files.upload}
        </UploadButton>
      )}
      {children}
      <Uploads place={place} />
    </div>
  )
}
