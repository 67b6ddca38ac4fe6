package accounts

import groovy.transform.CompileStatic

@CompileStatic
class Ledger implements Serializable {
    static final int YEARS_KEPT = 10
    private List<Entry> entries = []
    def currency = 'EUR'

    Ledger(String owner) {
        println "ledger of ${owner}"
    }

    def addEntry(String text, BigDecimal amount) {
        entries << new Entry(text: text, amount: amount)
    }

    BigDecimal balance() {
        entries*.amount.sum() as BigDecimal
    }

    static Ledger parse(File f) { new Ledger(f.name) }

    def onChange = { Entry e -> println e.text }
}

class Entry { String text; BigDecimal amount }

trait Auditable {
    abstract void audit()
}

enum Side { DEBIT, CREDIT }

def printAll(ledgers) {
    ledgers.each { println it.balance() }
}
