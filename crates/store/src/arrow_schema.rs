//! Arrow types of [`crate::tables`]: one Arrow type per [`Kind`], one schema per [`Table`].

use std::sync::{Arc, LazyLock};

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use crate::tables::{Column, Kind, Table};

impl Kind {
    /// The Arrow type of a column of this kind, in batches and in parts.
    pub fn data_type(self) -> DataType {
        match self {
            Kind::Bool => DataType::Boolean,
            Kind::U8 => DataType::UInt8,
            Kind::I16 => DataType::Int16,
            Kind::U32 => DataType::UInt32,
            Kind::U64 => DataType::UInt64,
            Kind::I64 => DataType::Int64,
            Kind::F64 => DataType::Float64,
            Kind::Text => DataType::Utf8,
            Kind::Bytes => DataType::Binary,
            Kind::Id8 => DataType::FixedSizeBinary(8),
            Kind::Id16 => DataType::FixedSizeBinary(16),
        }
    }
}

/// The columns of `table`, in the order of [`Table::columns`].
pub fn arrow_schema(table: Table) -> SchemaRef {
    static SCHEMAS: LazyLock<Vec<SchemaRef>> = LazyLock::new(|| Table::ALL.into_iter().map(build).collect());
    Arc::clone(&SCHEMAS[table as usize])
}

/// Like [`arrow_schema`], for rows in memory: columns with [`Column::is_dictionary`] have a dictionary type.
pub fn memory_schema(table: Table) -> SchemaRef {
    static SCHEMAS: LazyLock<Vec<SchemaRef>> = LazyLock::new(|| Table::ALL.into_iter().map(build_memory).collect());
    Arc::clone(&SCHEMAS[table as usize])
}

fn build(table: Table) -> SchemaRef {
    let fields = table.columns().iter().map(|column| Field::new(column.name, column.kind.data_type(), column.nullable));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn build_memory(table: Table) -> SchemaRef {
    let field = |column: &Column| {
        let plain = column.kind.data_type();
        let kind = match column.is_dictionary {
            true => DataType::Dictionary(Box::new(DataType::Int32), Box::new(plain)),
            false => plain,
        };
        Field::new(column.name, kind, column.nullable)
    };
    Arc::new(Schema::new(table.columns().iter().map(field).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_its_columns_in_order() {
        for table in Table::ALL {
            let schema = arrow_schema(table);
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            let expected: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
            assert_eq!(names, expected, "{}", table.name());
        }
    }
}
