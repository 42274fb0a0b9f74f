/** A file that is made piece by piece, each of which the browser keeps outside of the memory of the page, and saved. */

/** The address of a file that is saved under a name; valid until `forget`. */
export type Made = { readonly name: string; readonly url: string; readonly forget: () => void }

/** So many characters become a piece; smaller ones, each of which has its cost, are gathered. */
const PIECE = 65_536

export function createFile(name: string, type: string) {
  let pieces: Blob[] = []
  let gathered = ''
  const flush = () => {
    pieces.push(new Blob([gathered]))
    gathered = ''
  }
  return {
    add: (text: string): void => {
      gathered += text
      if (gathered.length >= PIECE) flush()
    },
    end: (): Made => {
      flush()
      const url = URL.createObjectURL(new Blob(pieces, { type }))
      pieces = []
      return { name, url, forget: () => URL.revokeObjectURL(url) }
    },
  }
}

/** As if its link were pressed. */
export function saveFile({ name, url }: Made): void {
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
}
