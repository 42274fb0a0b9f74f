/** Icons of 16 px, drawn in the colour of the text; decoration beside words, so that nobody hears them. */
import styles from './icon.module.css'

const paths = {
  add: 'M8 3v10M3 8h10',
  back: 'M10 3.5 5.5 8l4.5 4.5',
  calendar: 'M2.500 4h11v9.500h-11zM2.500 7h11M5.500 2.500V5M10.500 2.500V5',
  chat: 'M2.500 3h11v8h-6l-3 2.500v-2.500h-2Z',
  check: 'm3 8.5 3.2 3L13 4.5',
  close: 'm4 4 8 8M12 4l-8 8',
  code: 'm5.500 4.500-3.500 3.500 3.500 3.500M10.500 4.500 14 8l-3.500 3.500',
  columns: 'M2.500 3h11v10h-11zM6.200 3v10M9.800 3v10',
  copy: 'M6 6h7.500v7.500H6zM10 6V2.500H2.500V10H6',
  collection: 'M2.5 3.5h11v9h-11zM2.5 6.5h11M6.5 6.5v6',
  eye: 'M1.500 8C3 5.300 5.300 4 8 4s5 1.300 6.500 4C13 10.700 10.700 12 8 12s-5-1.300-6.500-4ZM8 9.700a1.700 1.700 0 1 0 0-3.400 1.700 1.700 0 0 0 0 3.400Z',
  down: 'm4 6 4 4 4-4',
  delete: 'M3 4.500h10M6 4.500v-2h4v2M4.500 4.500l.600 9h5.800l.600-9',
  file: 'M4 2.500h5l3 3v8H4ZM9 2.500v3h3',
  filter: 'M2.500 3.500h11L9.500 8.500v4l-3 1v-5Z',
  forward: 'M6 3.5 10.5 8 6 12.5',
  history: 'M3.200 5.500a5.500 5.500 0 1 1-.600 3.500M2.500 2.500v3.200h3.200M8 5v3.200l2.200 1.300',
  home: 'M2.5 7.5 8 3l5.5 4.5M4 6.5v6.5h8V6.5',
  inbox: 'M2.500 9 4.500 3h7l2 6v4h-11ZM2.500 9H6l1 1.500h2L10 9h3.500',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  people:
    'M6 7.500a2.200 2.200 0 1 0 0-4.400 2.200 2.200 0 0 0 0 4.400ZM1.500 13c.500-2 2.200-3.200 4.500-3.200S10 11 10.500 13M10.500 7.500a2 2 0 1 0-.800-3.800M12 9.900c1.400.400 2.300 1.500 2.600 3.100',
  model: 'M2 2.500h5v4H2zM9 9.500h5v4H9zM4.500 6.500v5H9',
  more: 'M3.200 7.500v1M8 7.500v1M12.800 7.500v1',
  person: 'M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM3 13.5c.6-2.2 2.5-3.5 5-3.5s4.4 1.300 5 3.500',
  source:
    'M8 6.500c3 0 5-.900 5-2s-2-2-5-2-5 .900-5 2 2 2 5 2ZM3 4.500v7c0 1.100 2 2 5 2s5-.900 5-2v-7M3 8c0 1.100 2 2 5 2s5-.900 5-2',
  summary: 'M12.500 4.500v-2h-9L8.500 8l-5 5.500h9v-2',
  up: 'm4 10 4-4 4 4',
  upload: 'M8 10.500v-8M5 5.500l3-3 3 3M3 10.500v3h10v-3',
  search: 'M7 11.5a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9ZM10.300 10.300 13.500 13.500',
  warning: 'M8 2.500 14 13.500H2ZM8 6.500v3.200M8 11.700v.1',
} as const

export type IconName = keyof typeof paths

/** Icons that lead somewhere, which is to the other side where one reads from right to left. */
const turning: ReadonlySet<IconName> = new Set(['back', 'forward'])

type IconProps = { readonly name: IconName; readonly color?: string | null | undefined }

export function Icon({ name, color }: IconProps) {
  return (
    <svg
      class={`${styles.icon}${turning.has(name) ? ` ${styles.turns}` : ''}`}
      style={color ? { color } : undefined}
      viewBox="0 0 16 16"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  )
}

type MarkProps = Omit<IconProps, 'name'> & { readonly emoji: string | null | undefined }

/** What people have chosen for a collection, else its icon. */
export function CollectionMark({ emoji, color }: MarkProps) {
  if (!emoji) return <Icon name="collection" color={color} />
  return (
    <span class={styles.emoji} aria-hidden="true">
      {emoji}
    </span>
  )
}

/** What stands for a name where there is room for one character. */
export function initialOf(name: string): string {
  return [...name.trim()][0]?.toLocaleUpperCase() ?? ''
}

export function Spinner() {
  return <span class={styles.spinner} aria-hidden="true" />
}
