/** A file in small: as a preset where it is an image, else an icon. */
import { contentPath, kindOf } from '../../data/files.ts'
import { Icon } from '../../ui/icon.tsx'
import styles from './files.module.css'

type MarkProps = {
  readonly workspace: string
  readonly id: string
  readonly mediaType: string | undefined
  readonly look: 'cell' | 'tile'
}

/** Its name stands beside it. */
export function FileMark({ workspace, id, mediaType, look }: MarkProps) {
  return (
    <span class={`${styles.mark} ${styles[look]}`}>
      {kindOf(mediaType) === 'image' ? (
        <img
          src={`${contentPath(workspace, id)}?preset=${look === 'tile' ? 256 : 64}`}
          alt=""
          loading="lazy"
          decoding="async"
        />
      ) : (
        <Icon name="file" />
      )}
    </span>
  )
}
