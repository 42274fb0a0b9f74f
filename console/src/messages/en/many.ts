/** Texts of what is done to many rows at once: changed, deleted, written to a file and read from one. */
import { pluralIn } from '../plural.ts'

const plural = pluralIn('en')

const rows = (shown: string, count: number) => plural(count, { one: `${shown} row`, other: `${shown} rows` })

export const many = {
  many: {
    fill: 'Drag to fill with these values (Ctrl+D, Ctrl+R)',
    menu: 'More',
    choose: 'Choose this row (Shift+Space)',
    chosen: (shown: string, count: number) => `${rows(shown, count)} chosen`,
    clear: 'Choose none',
    change: 'Change…',
    changeAll: 'Change all rows…',
    changeFound: 'Change all rows that meet the filter…',
    delete: 'Delete…',
    deleteAll: 'Delete all rows…',
    deleteFound: 'Delete all rows that meet the filter…',
    counting: 'Counting the rows',
    none: 'There is no row to change.',
    changeTitle: (shown: string, count: number) => `Change ${rows(shown, count)}`,
    changeButton: (shown: string, count: number) => `Change ${rows(shown, count)}`,
    undo: 'Undo',
    redo: 'Redo',
    canUndo: 'Undo, under More or by Ctrl+Z, takes it back.',
    canUndoByTouch: 'Undo, under More, takes it back.',
    writesEmpty: 'As nothing is typed, the texts become empty.',
    cannotUndo: 'These are too many to be taken back from here.',
    changed: (shown: string, count: number) =>
      plural(count, { one: `${shown} row was changed.`, other: `${shown} rows were changed.` }),
    sameAlready: 'All of them have this value already.',
    deleteTitle: (shown: string, count: number) => `Delete ${rows(shown, count)}?`,
    deleteButton: (shown: string, count: number) => `Delete ${rows(shown, count)}`,
    deleteText: 'They will be gone for good.',
    notOnlyChosen: 'These are all rows of this view, not only those that are chosen.',
    deleteRelated:
      'For rows that refer to them the data model decides: they are deleted too, lose their reference, or keep these rows from being deleted.',
    deleted: (shown: string, count: number) =>
      plural(count, { one: `${shown} row was deleted.`, other: `${shown} rows were deleted.` }),
    ofWhich: (done: string, all: string) => `${done} of ${all}`,
    grown: 'There are more of them by now, so nothing was done. This is how many there are:',
    forbidden: 'Nothing was done: among them are rows that you may not change so.',
    changedMeanwhile:
      'Some of them were changed or deleted in the meantime. They are shown as they are now; look at them again.',
    forbiddenOthers: 'Among the others are rows that you may not change so.',
    deletedBefore: (shown: string, count: number) =>
      plural(count, {
        one: `${shown} row was deleted, then it ended.`,
        other: `${shown} rows were deleted, then it ended.`,
      }),
    exactOnly: 'What had a number with more digits than the browser keeps cannot be taken back from here.',
    closing: 'This closes once the request that is under way is answered.',

    export: 'Export…',
    exportTitle: (collection: string) => `Export ${collection}`,
    exportText: 'All rows that meet the filter, in the order that is shown.',
    format: 'Format',
    formats: { csv: 'CSV', json: 'JSON' },
    exportedColumns: 'Columns',
    shownColumns: (shown: string) => `Those that are shown (${shown})`,
    allColumns: (shown: string) => `All (${shown})`,
    isSafe: 'For a spreadsheet',
    isSafeHint:
      'Texts that begin with =, +, - or @ get an apostrophe before, so that no spreadsheet takes them for a formula. Without, every text is as it is stored.',
    startExport: 'Export',
    written: (shown: string, count: number) => `${rows(shown, count)} written`,
    exported: (shown: string, count: number) => `${rows(shown, count)} are in the file.`,
    saveFile: 'Save the file',
    stop: 'Stop',

    import: 'Import…',
    importTitle: (collection: string) => `Import into ${collection}`,
    importText: 'A file of CSV, with the names of its columns in the first line, or of JSON, in UTF-8.',
    file: 'File',
    unreadable: (line: string) => `Line ${line} of the file cannot be read. Nothing was imported.`,
    notText: 'This file is no text in UTF-8. Nothing was imported.',
    noColumns: 'There is nothing in this file.',
    columnsOfFile: 'Columns of the file',
    leaveOut: 'Leave out',
    fieldFor: (column: string) => `Field for ${column}`,
    twice: (field: string) => `Two columns are for ${field}. Leave one of them out.`,
    missing: (field: string) => `${field} needs a value, and no column is for it.`,
    takeGuards: 'Take away apostrophes before =, +, - and @',
    takeGuardsHint: 'An export for a spreadsheet puts them there.',
    checking: 'Reading the file',
    preview: 'The first lines',
    line: 'Line',
    record: 'Number',
    late: (names: readonly string[]) =>
      `These come late in the file and are left out: ${names.map((name) => `“${name}”`).join(', ')}.`,
    why: 'Reason',
    fits: (shown: string, count: number) => plural(count, { one: `${shown} line fits.`, other: `${shown} lines fit.` }),
    wrongs: (shown: string, count: number) =>
      plural(count, {
        one: `${shown} line does not fit and is left out.`,
        other: `${shown} lines do not fit and are left out.`,
      }),
    firstOf: (shown: string) => `The first ${shown} of them:`,
    importRows: (shown: string, count: number) => `Import ${rows(shown, count)}`,
    importing: (shown: string, count: number) => `${rows(shown, count)} imported`,
    imported: (shown: string, count: number) =>
      plural(count, { one: `${shown} row was imported.`, other: `${shown} rows were imported.` }),
    stopped: 'It was stopped; the lines behind are not imported.',
    cutOff: 'The file could not be read to its end; it was changed or moved. The lines behind are not imported.',
    outcomeUnknown: 'Nobody knows whether this was imported. Look in the grid before you import it again.',
    failedLines: (shown: string, count: number) =>
      plural(count, { one: `${shown} line was not imported:`, other: `${shown} lines were not imported:` }),
    saveFailed: 'Save the lines that failed',
  },
}
