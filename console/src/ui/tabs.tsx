/** Links between the parts of one screen, in a line that scrolls to the one that is shown. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import styles from './tabs.module.css'

type TabsProps = {
  readonly label: string
  readonly tabs: readonly { readonly href: string; readonly title: string; readonly isCurrent: boolean }[]
}

export function Tabs({ label, tabs }: TabsProps) {
  const ref = useRef<HTMLElement>(null)
  const current = tabs.find(({ isCurrent }) => isCurrent)?.href
  useLayoutEffect(() => {
    const bar = ref.current
    if (bar === null) return
    const again = new ResizeObserver(() => show(bar.querySelector('[aria-current]')))
    again.observe(bar)
    return () => again.disconnect()
  }, [current])
  return (
    <nav ref={ref} class={styles.tabs} aria-label={label} onFocusCapture={({ target }) => show(target as Element)}>
      {tabs.map(({ href, title, isCurrent }) => (
        <a key={href} href={href} aria-current={isCurrent ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  )
}

/** All of it: by themselves browsers do not scroll to what is seen in part. */
function show(tab: Element | null | undefined): void {
  tab?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
}
