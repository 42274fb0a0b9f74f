/** A button that opens a menu: arrow keys, Home, End and Escape, as menus have them. */
import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'
import styles from './menu.module.css'

export type MenuItem =
  | { readonly kind: 'action' | 'deletion'; readonly label: string; readonly onSelect: () => void }
  | { readonly kind: 'choice'; readonly label: string; readonly isChosen: boolean; readonly onSelect: () => void }
  | { readonly kind: 'title'; readonly label: string }
  | { readonly kind: 'line' }

type MenuProps = {
  /** The name of button and menu. */
  readonly label: string
  readonly items: readonly MenuItem[]
  /** What the button shows, if not its name. */
  readonly children?: ComponentChildren
  readonly isIcon?: boolean
  /** Whether the button has a frame, as others beside it. */
  readonly look?: 'plain' | 'button'
  readonly tool?: IconName
  /** Whether entries that arrive while it is open are left out, so that none slips under the pointer. */
  readonly staysAsOpened?: boolean
}

export function Menu({
  label,
  items,
  children,
  isIcon = false,
  look = 'plain',
  tool,
  staysAsOpened = false,
}: MenuProps) {
  const id = useId()
  const [opened, setOpened] = useState<readonly MenuItem[]>()
  const shown = opened ?? items
  const hasMarks = shown.some(({ kind }) => kind === 'choice')
  const ref = useRef<HTMLDivElement>(null)
  const all = () => [...(ref.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])]
  const move = (event: KeyboardEvent) => {
    const items = all()
    const at = items.indexOf(document.activeElement as HTMLElement)
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key]
    if (next === undefined) return
    event.preventDefault()
    items[(next + items.length) % items.length]?.focus()
  }
  const run = (item: Extract<MenuItem, { onSelect: () => void }>) => {
    ref.current?.hidePopover()
    item.onSelect()
  }
  return (
    <>
      <Button
        {...(look === 'plain' && { look })}
        isIcon={isIcon}
        {...(tool !== undefined && { tool })}
        popovertarget={id}
        aria-haspopup="menu"
        aria-label={label}
      >
        {children ?? label}
      </Button>
      <div
        ref={ref}
        id={id}
        popover="auto"
        role="menu"
        aria-label={label}
        class={styles.menu}
        onKeyDown={move}
        onBeforeToggle={(event) => setOpened(staysAsOpened && event.newState === 'open' ? items : undefined)}
        onToggle={(event) => {
          if ((event as unknown as ToggleEvent).newState === 'open') all()[0]?.focus()
        }}
      >
        {shown.map((item, index) => {
          const key = keyOf(item, shown.slice(0, index))
          if (item.kind === 'line') return <hr key={key} class={styles.line} />
          if (item.kind === 'title') {
            return (
              <div key={key} class={styles.title} role="presentation" dir="auto">
                {item.label}
              </div>
            )
          }
          const common = {
            type: 'button',
            tabIndex: -1,
            class: styles.item,
            onClick: () => run(item),
          } as const
          if (item.kind !== 'choice') {
            return (
              <button key={key} {...common} data-kind={item.kind} role="menuitem">
                {hasMarks && <span class={styles.mark} />}
                {item.label}
              </button>
            )
          }
          return (
            <button key={key} {...common} role="menuitemradio" aria-checked={item.isChosen}>
              <span class={styles.mark}>{item.isChosen && <Icon name="check" />}</span>
              <span dir="auto">{item.label}</span>
            </button>
          )
        })}
      </div>
    </>
  )
}

/** An entry keeps its element while others come and go, so that a click on it is never one on another. Labels may be alike. */
function keyOf(item: MenuItem, before: readonly MenuItem[]): string {
  const label = labelOf(item)
  return `${before.filter((other) => labelOf(other) === label).length} ${label}`
}

function labelOf(item: MenuItem): string {
  return item.kind === 'line' ? '' : `${item.kind} ${item.label}`
}
