export type * from "./api.ts";
import type { Journal, JournalOptions, JournalReaderOptions, ReadOnlyJournal, SalvageOptions, SalvageReport } from "./api.ts";
export declare function openJournal(options: JournalOptions): Promise<Journal>;
export declare function openJournalReader(options: JournalReaderOptions): Promise<ReadOnlyJournal>;
export declare function salvage(options: SalvageOptions): Promise<SalvageReport>;
