/** A dialog while a request of it is under way: whoever closes it then is told that it waits for the answer, and nothing more is asked. */
import { useEffect, useRef, useState } from 'preact/hooks'

export function useUnderWay(onClose: () => void) {
  const [is, setIs] = useState({ isBusy: false, isClosing: false })
  /** As it is now, for what began before. */
  const now = useRef({ ...is, isThere: true })
  useEffect(
    () => () => {
      now.current.isThere = false
    },
    [],
  )
  const set = (next: typeof is) => {
    Object.assign(now.current, next)
    if (now.current.isThere) setIs(next)
  }
  return {
    ...is,
    /** Whether it is still there, so that it can show what became of it. */
    isThere: () => now.current.isThere,
    /** Whether nobody has closed it, so that more may be asked. */
    goesOn: () => now.current.isThere && !now.current.isClosing,
    begin: () => set({ isBusy: true, isClosing: false }),
    /** It stays, with what went wrong. */
    stay: () => set({ isBusy: false, isClosing: false }),
    /** It is done. Where another dialog has taken its place, that one stays. */
    leave: () => {
      if (now.current.isThere) onClose()
    },
    close: () => (now.current.isBusy ? set({ isBusy: true, isClosing: true }) : onClose()),
  }
}
