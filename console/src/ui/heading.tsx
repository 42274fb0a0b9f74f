/** The title of a screen, which the window is called by and which has the focus when the screen is shown. */
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

/** What the screen that is shown is called, the narrowest first; empty until there is one. */
export const names = signal<readonly string[]>([])

/** For as long as the component is drawn. */
export function useNames(own: readonly string[]): void {
  useEffect(() => {
    names.value = own
    return () => {
      if (names.value === own) names.value = []
    }
  }, [own.join('\n')])
}

type HeadingProps = {
  readonly text: string
  /** What the window is called by, where that is not the title alone: its part before it, or what it is of behind it. */
  readonly called?: readonly string[]
}

export function Heading({ text, called = [text] }: HeadingProps) {
  const ref = useRef<HTMLHeadingElement>(null)
  useNames(called)
  useEffect(() => {
    // It comes after the region that it is the title of, which had the focus meanwhile.
    if (document.activeElement?.localName === 'main') ref.current?.focus()
  }, [])
  return (
    <h1 ref={ref} tabIndex={-1}>
      <bdi>{text}</bdi>
    </h1>
  )
}
