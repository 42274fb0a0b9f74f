/** Which hosts a connector asks for and why, beside those that it was granted. */
import { sourceTexts } from '../../messages/sources.ts'
import { Table } from '../../ui/table.tsx'
import type { Permission } from './data.ts'
import styles from './sources.module.css'

type GrantsProps = {
  /** What it needs; the grant itself where nothing says otherwise. */
  readonly required: readonly Permission[]
  /** Undefined where nothing was granted yet. */
  readonly granted: readonly Permission[] | undefined
}

export function Grants({ required, granted }: GrantsProps) {
  const texts = sourceTexts.value
  const has = (all: readonly Permission[], { permission }: Permission) =>
    all.some((one) => one.permission === permission)
  const markOf = (item: Permission) => {
    if (granted === undefined) return 'requested'
    if (!has(required, item)) return 'dropped'
    return has(granted, item) ? 'granted' : 'added'
  }
  const dropped = (granted ?? []).filter((item) => !has(required, item))
  return (
    <Table
      wraps
      label={granted === undefined ? texts.asks : texts.grants}
      rows={[...required, ...dropped]}
      keyOf={({ permission }) => permission}
      columns={[
        { title: texts.host, cell: ({ permission }) => <code dir="ltr">{permission.replace(/^net:/, '')}</code> },
        { title: texts.why, cell: ({ reason }) => reason },
        {
          title: texts.grant,
          cell: (item) => (
            <span class={styles.mark} data-mark={markOf(item)}>
              {texts.marks[markOf(item)]}
            </span>
          ),
        },
      ]}
    />
  )
}
