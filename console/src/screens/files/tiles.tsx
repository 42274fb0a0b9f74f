/** Pictures in a row, each with a name and a way to what it is of: files themselves, or items that have one. */
import page from '../page.module.css'
import styles from './files.module.css'
import { FileMark } from './mark.tsx'

export type Tile = {
  readonly href: string
  readonly name: string
  /** Beneath its name. */
  readonly detail?: string
  /** Undefined for an item without one. */
  readonly file: { readonly id: string; readonly mediaType: string | undefined } | undefined
}

type TilesProps = { readonly workspace: string; readonly label: string; readonly tiles: readonly Tile[] }

export function Tiles({ workspace, label, tiles }: TilesProps) {
  return (
    <ul class={styles.gallery} aria-label={label}>
      {tiles.map(({ href, name, detail, file }) => (
        <li key={href}>
          <a href={href}>
            {file ? (
              <FileMark workspace={workspace} {...file} look="tile" />
            ) : (
              <span class={`${styles.mark} ${styles.tile}`} />
            )}
            <span class={styles.name} dir="auto">
              {name}
            </span>
            {detail !== undefined && <span class={page.quiet}>{detail}</span>}
          </a>
        </li>
      ))}
    </ul>
  )
}
