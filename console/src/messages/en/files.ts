/** Texts of files: their screen, uploads, and fields that lead to them. */
import { pluralIn } from '../plural.ts'

const plural = pluralIn('en')

export const files = {
  files: {
    title: 'Files',
    upload: 'Upload',
    uploadFor: (field: string) => `Upload a file for ${field}`,
    drop: 'Drop files anywhere on this page, or press Upload.',
    dropHere: 'Drop to upload',
    none: 'No files',
    noneFound: 'No file meets the filter.',
    find: 'Find by name',
    unused: 'Only unused',
    unusedHint: 'Files that no item refers to.',
    more: 'Show more',
    count: (shown: string, count: number) => plural(count, { one: `${shown} file`, other: `${shown} files` }),
    uploads: 'Uploads',
    progress: (name: string) => `Upload of ${name}`,
    sentOf: (sent: string, total: string) => `${sent} of ${total}`,
    waiting: 'Waiting',
    goOn: 'Try again',
    cancel: (name: string) => `Cancel the upload of ${name}`,
    fields: {
      id: 'ID',
      fileName: 'File name',
      fileSize: 'Size',
      mediaType: 'Media type',
      title: 'Title',
      description: 'Description',
      tags: 'Tags',
      createdAt: 'Uploaded',
      updatedAt: 'Last change',
    },
    content: 'Content',
    download: 'Download',
    replace: 'Replace',
    replaced: 'Replaced.',
    replacedMeanwhile:
      'Somebody has replaced this file since it was shown. You see what it is now: choose yours again to replace that.',
    link: {
      open: 'Make a link',
      title: 'A link to this file',
      text: 'Anybody who has the link reads the file, without signing in. Nobody can end it before it expires, but by replacing or deleting the file.',
      works: 'It works for',
      lifetimes: { '5m': '5 minutes', '15m': '15 minutes', '1h': 'An hour' },
      make: 'Make the link',
      once: (time: string) => `Copy it now: it is shown this once. It works until ${time}.`,
    },
    deleted: {
      open: 'Deleted files',
      title: 'Deleted files',
      text: 'The service keeps deleted files for a day, unless whoever runs it has set another time. Until then they come back as they were.',
      ownOnly:
        'Shown are those that you have deleted since this page was loaded. The audit log has all others, for whoever may read it.',
      none: 'No file was deleted lately.',
      name: 'Name',
      you: 'You',
      restore: 'Restore',
      restoreOf: (name: string) => `Restore ${name}`,
      restored: (name: string) => `${name} is restored.`,
      gone: (name: string) => `The content of ${name} is gone, or the file is there already.`,
    },
    noPreview: 'There is no preview of this type.',
  },
}
